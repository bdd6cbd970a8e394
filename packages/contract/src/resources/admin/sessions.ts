import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, Text, Timestamp, wrap } from '../../shared.js'

/** A browser in which an account is signed in. */
export const Session = Type.Object(
  {
    id: Id('Id of the session.'),
    createdAt: Timestamp('Time at which the browser signed in.'),
    expiresAt: Timestamp('Time at which the session ends by itself.'),
    lastUsedAt: Type.Optional(
      Timestamp('Time at which the session was last used; absent if never. Updated with a delay.'),
    ),
    note: Type.String({
      description: 'Name of the session that the sign-in gave it; may be empty.',
    }),
    device: Type.Optional(
      Type.String({
        description: 'Browser and system, such as `Firefox on Linux`, as the browser named them.',
      }),
    ),
    address: Type.Optional(
      Type.String({
        description:
          'Network address from which the browser signed in; of IPv6 the network of 64 bits.',
      }),
    ),
    current: Type.Boolean({ description: 'Whether the call was made with this session.' }),
  },
  { title: 'Session', description: 'A browser in which an account is signed in.' },
)

/** The name that a sign-in gives its session. */
export const sessionNote = Type.Optional(Text(200, 'Name of the session, at most 200 characters.'))

/** Browsers in which the caller is signed in. Their cookies are accepted from pages of the server only. */
export const sessions = {
  create: operation({
    id: 'createSession',
    method: 'POST',
    path: '/v1/admin/sessions',
    tag: 'Account',
    summary: 'Sign a browser in',
    description:
      'For pages of the server itself: exchanges a personal access token or a sign-in code for a cookie that scripts cannot read. Calls of such pages are then made for the account without `Authorization`, if they have an `Origin` of the server, or, where browsers send none, the header `x-requested-with`.',
    auth: 'public',
    audit: 'account',
    session: 'begins',
    body: Type.Object({
      token: Type.Optional(
        Text(512, 'Personal access token. Either this or `code` must be given.', 1),
      ),
      code: Type.Optional(
        Text(
          512,
          'Sign-in code, as `botstead dashboard` makes it: valid once and for one hour.',
          1,
        ),
      ),
      note: sessionNote,
    }),
    response: json(wrap('session', Session)),
    status: 201,
    errors: ['Unauthorized', 'Forbidden'],
  }),
  list: operation({
    id: 'listSessions',
    method: 'GET',
    path: '/v1/admin/sessions',
    tag: 'Account',
    summary: 'List the browsers in which the caller is signed in',
    auth: 'account',
    permission: 'account:read',
    response: json(
      Type.Object({
        sessions: Type.Array(Session, {
          description: 'Sessions that have not expired, newest first; at most 100.',
        }),
      }),
    ),
  }),
  remove: operation({
    id: 'deleteSession',
    method: 'DELETE',
    path: '/v1/admin/sessions/{id}',
    tag: 'Account',
    summary: 'Sign a browser out',
    description:
      'The session ends at once on this server process, and within five seconds on others.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    session: 'ends',
    params: Type.Object({
      id: Id('Id of the session; `current` for the one with which the call is made.'),
    }),
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  removeOthers: operation({
    id: 'deleteOtherSessions',
    method: 'DELETE',
    path: '/v1/admin/sessions',
    tag: 'Account',
    summary: 'Sign all other browsers out',
    description:
      'Ends every session of the caller but the one of the call, at once on this server process and within five seconds on others. Personal access tokens stay.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    response: json(
      Type.Object({
        ended: Type.Integer({ minimum: 0, description: 'Number of sessions that were ended.' }),
      }),
    ),
  }),
}
