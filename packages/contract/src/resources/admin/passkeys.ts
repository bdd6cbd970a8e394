import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, Text, Timestamp, wrap } from '../../shared.js'
import { Session } from './sessions.js'
import { currentPassword } from './sign-in.js'

const name = Text(100, 'Name of the passkey, 1 to 100 characters.', 1)

const Passkey = Type.Object(
  {
    id: Id('Id of the passkey.'),
    name: Type.String({ description: 'Name that its owner gave it.' }),
    createdAt: Timestamp('Time at which it was added.'),
    lastUsedAt: Type.Optional(
      Timestamp('Time of the last sign-in with it; absent if there was none.'),
    ),
    host: Type.String({
      description:
        'Host name of the server that it was made for. Browsers offer it nowhere else, also after `BOTSTEAD_PUBLIC_URL` has changed.',
    }),
    syncable: Type.Boolean({
      description:
        'Whether it may be copied to other devices of its owner, as by a password manager.',
    }),
    backedUp: Type.Boolean({ description: 'Whether such a copy existed when it was last used.' }),
  },
  { title: 'Passkey', description: 'A key in a device or password manager, which signs in.' },
)

/** Base64url, as browsers write what WebAuthn returns. */
const Encoded = (maxLength: number, description: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9_-]+$',
    minLength: 1,
    maxLength,
    description: `${description}, in base64url; at most ${maxLength} characters.`,
  })

const credentialId = Encoded(1400, 'Id of the credential')
const clientDataJSON = Encoded(8192, 'Data that the browser signed')

const challenge = Type.String({ description: 'Challenge in base64url; works once.' })
const timeout = Type.Integer({ description: 'Milliseconds that the person has.' })
const userVerification = Type.Literal('required', {
  description: 'The device checks its owner, by a PIN or a fingerprint.',
})
const publicKey = Type.Literal('public-key', { description: 'The only type.' })

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn. */
const creationOptions = Type.Object(
  {
    challenge,
    rp: Type.Object(
      {
        id: Type.String({ description: 'Host name of the server.' }),
        name: Type.String({ description: 'Name that the browser shows.' }),
      },
      { description: 'The server.' },
    ),
    user: Type.Object(
      {
        id: Type.String({ description: 'Id of the account in base64url.' }),
        name: Type.String({ description: 'Email address of the account.' }),
        displayName: Type.String({ description: 'Name of the person.' }),
      },
      { description: 'The account.' },
    ),
    pubKeyCredParams: Type.Array(
      Type.Object(
        { type: publicKey, alg: Type.Integer({ description: 'Algorithm as COSE numbers it.' }) },
        { description: 'A kind of key.' },
      ),
      { description: 'Kinds of keys that the server knows, the best first.' },
    ),
    excludeCredentials: Type.Array(
      Type.Object(
        { type: publicKey, id: Type.String({ description: 'Id of the credential in base64url.' }) },
        { description: 'A passkey of the account.' },
      ),
      { description: 'Passkeys that the account has: their devices make no second one.' },
    ),
    authenticatorSelection: Type.Object(
      {
        residentKey: Type.Literal('required', {
          description: 'The device finds the passkey without the address of the account.',
        }),
        requireResidentKey: Type.Literal(true, {
          description: 'The same for older browsers.',
        }),
        userVerification,
      },
      { description: 'Requirements for the device.' },
    ),
    attestation: Type.Literal('none', { description: 'The maker of the device does not matter.' }),
    timeout,
  },
  { description: 'The argument `publicKey` for `navigator.credentials.create`, as JSON.' },
)

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. */
const requestOptions = Type.Object(
  {
    challenge,
    rpId: Type.String({ description: 'Host name of the server.' }),
    userVerification,
    timeout,
  },
  { description: 'The argument `publicKey` for `navigator.credentials.get`, as JSON.' },
)

/** Passkeys (WebAuthn): keys in a device or password manager, with which people sign in. */
export const passkeys = {
  startSignIn: operation({
    id: 'startPasskeySignIn',
    method: 'POST',
    path: '/v1/admin/sign-in/passkey',
    tag: 'Account',
    summary: 'Begin a sign-in with a passkey',
    description:
      'For pages of the server itself. Sets a cookie, by which `signInWithPasskey` knows the browser within five minutes. At most a hundred sign-ins from a network address wait to be finished; further ones are refused until one expires.',
    auth: 'public',
    audit: { none: 'Nobody is signed in yet; `signInWithPasskey` leaves the record.' },
    session: 'begins',
    body: Type.Object({}),
    bodyOptional: true,
    response: json(Type.Object({ options: requestOptions })),
    errors: ['Forbidden', 'ResourceNotFound'],
  }),
  signIn: operation({
    id: 'signInWithPasskey',
    method: 'POST',
    path: '/v1/admin/sign-in/passkey/finish',
    tag: 'Account',
    summary: 'Sign a browser in with a passkey',
    description:
      'Begins a session as `createSession` does. Works once for each `startPasskeySignIn`, in the browser that began. The device has checked its owner, so that no second factor is asked for. A passkey whose counter goes back is refused, because there may be a copy of it, and the audit log has it.',
    auth: 'public',
    audit: 'account',
    session: 'begins',
    body: Type.Object({
      credential: Type.Object(
        {
          id: credentialId,
          response: Type.Object(
            {
              clientDataJSON,
              authenticatorData: Encoded(4096, 'Data of the device'),
              signature: Encoded(8192, 'Signature of both'),
              userHandle: Encoded(128, 'Id of the account that the device stored'),
            },
            { description: 'Proof of the device.' },
          ),
        },
        { description: 'Result of `navigator.credentials.get`, as `toJSON()` returns it.' },
      ),
    }),
    response: json(wrap('session', Session)),
    status: 201,
    errors: ['Unauthorized', 'Forbidden', 'ResourceNotFound'],
  }),
  list: operation({
    id: 'listPasskeys',
    method: 'GET',
    path: '/v1/admin/account/passkeys',
    tag: 'Account',
    summary: 'List the passkeys of the caller',
    auth: 'account',
    permission: 'account:read',
    response: json(
      Type.Object({
        passkeys: Type.Array(Passkey, { description: 'Passkeys, oldest first; at most 20.' }),
      }),
    ),
  }),
  start: operation({
    id: 'startPasskey',
    method: 'POST',
    path: '/v1/admin/account/passkeys/start',
    tag: 'Account',
    summary: 'Begin to add a passkey of the caller',
    description:
      'In a browser that is signed in; `finishPasskey` adds it within five minutes. Needs the current password, and the code of the second factor if the account has one: the passkey replaces both. An account without a password needs a sign-in of the last ten minutes instead.',
    auth: 'account',
    permission: 'account:write',
    audit: { none: 'Nothing is added yet; `finishPasskey` leaves the record.' },
    body: Type.Object({
      currentPassword,
      code: Type.Optional(
        Text(
          64,
          'Code of the authenticator app, or a recovery code; required if the account has a second factor.',
          1,
        ),
      ),
    }),
    response: json(Type.Object({ options: creationOptions })),
    errors: ['ResourceNotFound', 'LimitExceeded'],
  }),
  finish: operation({
    id: 'finishPasskey',
    method: 'POST',
    path: '/v1/admin/account/passkeys',
    tag: 'Account',
    summary: 'Add a passkey of the caller',
    description:
      'Works once for each `startPasskey`, in the browser that began. An account has 20 passkeys at most.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    body: Type.Object({
      name,
      credential: Type.Object(
        {
          id: credentialId,
          response: Type.Object(
            {
              clientDataJSON,
              attestationObject: Encoded(16_384, 'Public key and data of the device'),
              transports: Type.Optional(
                Type.Array(Text(32, 'A way, such as `usb`, `internal` or `hybrid`.', 1), {
                  maxItems: 10,
                  description: 'Ways in which a browser reaches the device.',
                }),
              ),
            },
            { description: 'The new key.' },
          ),
        },
        { description: 'Result of `navigator.credentials.create`, as `toJSON()` returns it.' },
      ),
    }),
    response: json(wrap('passkey', Passkey)),
    errors: ['ResourceNotFound', 'AlreadyExists', 'LimitExceeded'],
  }),
  update: operation({
    id: 'updatePasskey',
    method: 'PUT',
    path: '/v1/admin/account/passkeys/{id}',
    tag: 'Account',
    summary: 'Rename a passkey of the caller',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    params: Type.Object({ id: Id('Id of the passkey.') }),
    body: Type.Object({ name }),
    response: json(wrap('passkey', Passkey)),
    errors: ['ResourceNotFound'],
  }),
  remove: operation({
    id: 'deletePasskey',
    method: 'POST',
    path: '/v1/admin/account/passkeys/{id}/remove',
    tag: 'Account',
    summary: 'Remove a passkey of the caller',
    description:
      'Ends all other sessions of the caller. Needs the current password; an account without one needs a sign-in of the last ten minutes instead, and keeps the last passkey unless it is connected with the provider.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    params: Type.Object({ id: Id('Id of the passkey.') }),
    body: Type.Object({ currentPassword }),
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
}
