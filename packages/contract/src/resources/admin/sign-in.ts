import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Text, Timestamp, wrap } from '../../shared.js'
import { Session, sessionNote } from './sessions.js'

/** A password that is chosen. */
export const NewPassword = Text(
  128,
  'New password: 10 to 128 characters, neither the address or the name of the person nor a common password.',
  10,
)

/** A password that is proven. */
const password = Text(512, 'Password of the account.', 1)

/** The proof before changes that a stolen session alone must not make. */
export const currentPassword = Type.Optional(
  Text(
    512,
    'Current password; required if the account has one. An account that signs in with passkeys or a provider only needs a sign-in of the last ten minutes instead.',
    1,
  ),
)

const email = Type.String({
  minLength: 1,
  maxLength: 320,
  description: 'Email address of the account, at most 320 characters; case does not count.',
})

const code = Text(512, 'Code of a reset link: what stands behind `#` in its address.', 1)

/** How far a sign-in came. */
const progressFields = {
  session: Type.Optional(Session),
  secondFactor: Type.Optional(
    Type.Object(
      {
        ticket: Type.String({
          description: 'Proof of the first step, for `signInWithSecondFactor`.',
        }),
        expiresAt: Timestamp('Time at which the ticket stops working, five minutes later.'),
      },
      {
        description:
          'Instead of `session` if the account has a second factor: nobody is signed in yet.',
      },
    ),
  ),
}

const progress = json(Type.Object(progressFields))

const signOnAddress = json(
  Type.Object({
    url: Type.String({ description: 'Address of the provider to which the browser goes.' }),
  }),
)

const returnTo = Type.Optional(
  Type.String({
    pattern: '^/(?!/)[^\\s\\\\]*$',
    maxLength: 2000,
    description: 'Path below `/dashboard` on which the person goes on; `/` unless given.',
  }),
)

const factorCode = Text(
  64,
  'Code of six digits that the authenticator app shows, or a recovery code. Each works once.',
  1,
)

/** Sign-in of people, for pages of the server itself. */
export const signIn = {
  withPassword: operation({
    id: 'signInWithPassword',
    method: 'POST',
    path: '/v1/admin/sign-in/password',
    tag: 'Account',
    summary: 'Sign a browser in with address and password',
    description:
      'Begins a session as `createSession` does. An address without an account is answered like a wrong password. Wrong passwords make the next attempts wait: by account, and by network address.',
    auth: 'public',
    audit: 'account',
    session: 'begins',
    body: Type.Object({ email, password, note: sessionNote }),
    response: progress,
    status: 201,
    errors: ['Unauthorized', 'Forbidden'],
  }),
  withSecondFactor: operation({
    id: 'signInWithSecondFactor',
    method: 'POST',
    path: '/v1/admin/sign-in/second-factor',
    tag: 'Account',
    summary: 'Sign a browser in with the code of a second factor',
    description:
      'The second step of `signInWithPassword` for accounts that have a second factor. Wrong codes make the next attempts wait.',
    auth: 'public',
    audit: 'account',
    session: 'begins',
    body: Type.Object({
      ticket: Text(512, 'Ticket of the first step.', 1),
      code: factorCode,
    }),
    response: json(wrap('session', Session)),
    status: 201,
    errors: ['Unauthorized', 'Forbidden', 'ResourceNotFound'],
  }),
  getWays: operation({
    id: 'getSignInWays',
    method: 'GET',
    path: '/v1/admin/sign-in/ways',
    tag: 'Account',
    summary: 'Get the ways in which people can sign in',
    description: 'For pages of the server itself.',
    auth: 'public',
    response: json(
      Type.Object({
        mail: Type.Boolean({
          description: 'Whether the server sends mail: invitations, and links that set a password.',
        }),
        singleSignOn: Type.Optional(
          Type.Object(
            { name: Type.String({ description: 'The provider as people know it.' }) },
            { description: 'The provider for `startSingleSignOn`; absent without one.' },
          ),
        ),
        passkeys: Type.Optional(
          Type.Object(
            {
              origin: Type.String({
                description:
                  'Origin of the pages on which they work, such as `https://bots.example.com`.',
              }),
            },
            {
              description:
                'For `startPasskeySignIn`; absent where browsers permit no passkeys: at an IP address, or over http elsewhere than at `localhost`.',
            },
          ),
        ),
      }),
    ),
  }),
  requestReset: operation({
    id: 'requestPasswordReset',
    method: 'POST',
    path: '/v1/admin/sign-in/reset/request',
    tag: 'Account',
    summary: 'Mail a link that sets the password of an account',
    description:
      'The response is the same whether there is an account with the address or not. The link works once, within an hour. After three mails to an address, and ten that a network address asked for, the next ones wait.',
    auth: 'public',
    audit: { none: 'Anybody may ask; the link leaves a record when it is used.' },
    body: Type.Object({ email }),
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  startSingleSignOn: operation({
    id: 'startSingleSignOn',
    method: 'POST',
    path: '/v1/admin/sign-in/sso',
    tag: 'Account',
    summary: 'Begin a sign-in with the account of a provider',
    description:
      'For pages of the server itself. Sets a cookie, by which the browser is known when its person comes back from the provider within ten minutes. After a hundred sign-ins within ten minutes that were not finished, the next ones from the same network address are refused with `RateLimited` until the first expires.',
    auth: 'public',
    audit: { none: 'Nobody is signed in yet; `finishSingleSignOn` leaves the record.' },
    session: 'begins',
    body: Type.Object({
      returnTo,
      invitation: Type.Optional(
        Text(
          512,
          'Code of an invitation, with which a person joins who has no account yet: what stands behind `#` in its address.',
          1,
        ),
      ),
    }),
    response: signOnAddress,
    errors: ['Forbidden', 'ResourceNotFound', 'OperationTimeout'],
  }),
  finishSingleSignOn: operation({
    id: 'finishSingleSignOn',
    method: 'POST',
    path: '/v1/admin/sign-in/sso/finish',
    tag: 'Account',
    summary: 'Sign a browser in with the account of a provider',
    description:
      'Works once, in the browser that began. Begins a session as `createSession` does; after `connectSingleSignOn` it connects the account, and leaves the session as it is. The first sign-in connects an account whose address is proven with that of the provider, or makes one where newcomers may join. An account with a second factor needs it here too.',
    auth: 'public',
    audit: 'account',
    session: 'begins',
    body: Type.Object({
      query: Text(8192, 'Query of the address to which the provider led the browser back.', 1),
    }),
    response: json(
      Type.Object({
        ...progressFields,
        returnTo: Type.String({
          description: 'Path below `/dashboard` that was given at the beginning.',
        }),
      }),
    ),
    status: 201,
    errors: ['Forbidden', 'ResourceNotFound', 'LimitExceeded', 'OperationTimeout'],
  }),
  getReset: operation({
    id: 'getPasswordReset',
    method: 'POST',
    path: '/v1/admin/sign-in/reset/lookup',
    tag: 'Account',
    summary: 'Get the account of a reset link',
    description: 'Changes nothing. A `POST`, so that the code is in no log of addresses.',
    auth: 'public',
    body: Type.Object({ code }),
    response: json(
      Type.Object({
        email: Type.String({ description: 'Email address of the account.' }),
        expiresAt: Timestamp('Time at which the link stops working.'),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  reset: operation({
    id: 'resetPassword',
    method: 'POST',
    path: '/v1/admin/sign-in/reset',
    tag: 'Account',
    summary: 'Set the password of an account with a reset link',
    description:
      'The link works once. Ends all sessions of the account, and signs this browser in as `signInWithPassword` does. Using the first emailed link proves the address, and revokes older personal access tokens, because somebody who did not own the address may have made them; those of the operator stay.',
    auth: 'public',
    audit: 'account',
    session: 'begins',
    body: Type.Object({ code, password: NewPassword }),
    response: progress,
    status: 201,
    errors: ['ResourceNotFound', 'Forbidden', 'Unauthorized'],
  }),
}

const provenPassword = Text(512, 'Current password.', 1)

const recoveryCodes = Type.Array(Type.String({ description: 'A code that works once.' }), {
  description:
    'Ten codes for a sign-in without the app. Returned only here: the server stores hashes of them.',
})

/** How the caller signs in. */
export const accountSecurity = {
  get: operation({
    id: 'getAccountSecurity',
    method: 'GET',
    path: '/v1/admin/account/security',
    tag: 'Account',
    summary: 'Get how the caller signs in',
    auth: 'account',
    permission: 'account:read',
    response: json(
      Type.Object({
        hasPassword: Type.Boolean({ description: 'Whether the account has a password.' }),
        passwordChangedAt: Type.Optional(
          Timestamp('Time at which the password was set; absent without one.'),
        ),
        identities: Type.Array(
          Type.Object(
            {
              email: Type.Optional(
                Type.String({ description: 'Address there, when it was connected.' }),
              ),
              since: Timestamp('Time at which it was connected.'),
            },
            { description: 'An account at a provider.' },
          ),
          { description: 'Accounts at providers with which the caller signs in.' },
        ),
        passkeys: Type.Integer({
          minimum: 0,
          description: 'Number of passkeys; `listPasskeys` has them.',
        }),
        secondFactor: Type.Optional(
          Type.Object(
            {
              since: Timestamp('Time since which it is in force.'),
              recoveryCodesLeft: Type.Integer({
                minimum: 0,
                description: 'Recovery codes that were not used.',
              }),
            },
            { description: 'The second factor of the account; absent without one.' },
          ),
        ),
      }),
    ),
  }),
  changePassword: operation({
    id: 'changePassword',
    method: 'PUT',
    path: '/v1/admin/account/password',
    tag: 'Account',
    summary: 'Set or change the password of the caller',
    description: 'Ends all other sessions of the caller. Personal access tokens stay.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    body: Type.Object({ currentPassword, password: NewPassword }),
    response: json(Empty),
  }),
  changeEmail: operation({
    id: 'changeAccountEmail',
    method: 'PUT',
    path: '/v1/admin/account/email',
    tag: 'Account',
    summary: 'Change the email address of the caller',
    description: 'The account signs in with the new address from then on.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    body: Type.Object({
      email: Type.String({
        pattern: '^[^\\s@]+@[^\\s@]+$',
        maxLength: 320,
        description: 'New email address, at most 320 characters; stored in lower case.',
      }),
      currentPassword,
    }),
    response: json(Empty),
    errors: ['AlreadyExists'],
  }),
  removeAccount: operation({
    id: 'deleteAccount',
    method: 'POST',
    path: '/v1/admin/account/me',
    tag: 'Account',
    summary: 'Delete the account of the caller',
    description:
      'The account leaves its workspaces, and its sessions, personal tokens and preferences are deleted. What it made in workspaces stays there. The only owner of a workspace makes somebody else an owner first, or deletes the workspace. The account of the first start cannot be deleted.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    body: Type.Object({ currentPassword }),
    response: json(Empty),
    errors: ['ReferenceConstraint'],
  }),
  connectSingleSignOn: operation({
    id: 'connectSingleSignOn',
    method: 'POST',
    path: '/v1/admin/account/sso',
    tag: 'Account',
    summary: 'Begin to connect the account of the caller with that of a provider',
    description:
      'As `startSingleSignOn`, in a browser that is signed in: `finishSingleSignOn` connects the account if it still is.',
    auth: 'account',
    permission: 'account:write',
    audit: { none: 'Nothing is connected yet; `finishSingleSignOn` leaves the record.' },
    body: Type.Object({ currentPassword, returnTo }),
    response: signOnAddress,
    errors: ['ResourceNotFound', 'OperationTimeout'],
  }),
  disconnectSingleSignOn: operation({
    id: 'disconnectSingleSignOn',
    method: 'POST',
    path: '/v1/admin/account/sso/remove',
    tag: 'Account',
    summary: 'Remove the connections of the caller with accounts of providers',
    description:
      'Ends all other sessions of the caller. A sign-in with the provider does not connect the account again: only `connectSingleSignOn` does. The connection stays if nothing else signs in to the account.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    body: Type.Object({ currentPassword }),
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
  startSecondFactor: operation({
    id: 'startSecondFactor',
    method: 'POST',
    path: '/v1/admin/account/second-factor',
    tag: 'Account',
    summary: 'Begin a second factor of the caller',
    description:
      'Makes the secret of an authenticator app. It is in force once `confirmSecondFactor` had a code of it; until then, each call replaces the secret.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    body: Type.Object({ currentPassword: provenPassword }),
    response: json(
      Type.Object({
        secret: Type.String({ description: 'Secret in base 32, for those who type it.' }),
        uri: Type.String({
          description: 'The same as an `otpauth:` address, for a QR code that apps read.',
        }),
      }),
    ),
    errors: ['AlreadyExists'],
  }),
  confirmSecondFactor: operation({
    id: 'confirmSecondFactor',
    method: 'POST',
    path: '/v1/admin/account/second-factor/confirm',
    tag: 'Account',
    summary: 'Put the second factor of the caller into force',
    description: 'Ends all other sessions of the caller, which began without it.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    body: Type.Object({
      code: Text(64, 'Code of six digits that the authenticator app shows now.', 1),
    }),
    response: json(Type.Object({ recoveryCodes })),
    errors: ['ResourceNotFound'],
  }),
  renewRecoveryCodes: operation({
    id: 'renewRecoveryCodes',
    method: 'POST',
    path: '/v1/admin/account/second-factor/recovery-codes',
    tag: 'Account',
    summary: 'Replace the recovery codes of the caller',
    description: 'All codes of before stop working.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    body: Type.Object({ currentPassword: provenPassword, code: factorCode }),
    response: json(Type.Object({ recoveryCodes })),
    errors: ['ResourceNotFound'],
  }),
  removeSecondFactor: operation({
    id: 'removeSecondFactor',
    method: 'POST',
    path: '/v1/admin/account/second-factor/remove',
    tag: 'Account',
    summary: 'Remove the second factor of the caller',
    description: 'Also removes the recovery codes.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    body: Type.Object({ currentPassword: provenPassword, code: factorCode }),
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
}
