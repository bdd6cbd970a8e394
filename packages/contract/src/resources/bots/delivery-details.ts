import { Type } from 'typebox'
import { Id, MapOf, OneOf, Timestamp } from '../../shared.js'
import { Delivery } from './delivery-entities.js'

/** Maximum number of attempts in the details of a delivery. */
export const maxListedAttempts = 100

const headerValue = Type.String({ description: 'Value of the header.' })

const AttemptRequest = Type.Object(
  {
    method: OneOf(['POST'], 'Method of the request.'),
    url: Type.Optional(
      Type.String({
        description:
          'URL as called, with a password in it replaced by `***`; absent for attempts before this was stored.',
      }),
    ),
    headers: MapOf(headerValue, {
      description:
        'Headers by their names in lower case. `x-botstead-delivery`, `x-botstead-attempt` and `x-botstead-signature` are those that were sent; the others are those that would be sent now. Values that contain configuration or secrets are replaced by `***`.',
    }),
    signature: Type.Optional(
      Type.Object(
        {
          value: Type.String({
            description:
              'Value of `x-botstead-signature` as sent: `t=<Unix seconds>,v1=<hex>`, with one `v1` per secret.',
          }),
          signedPrefix: Type.String({
            description:
              'The signature is the HMAC-SHA256 of this text, `<t>.`, followed by the body.',
          }),
        },
        {
          title: 'AttemptSignature',
          description: 'Signature of the request; absent for attempts before this was stored.',
        },
      ),
    ),
    bodyIs: OneOf(
      ['sent', 'current', 'gone'],
      '`sent`: the body is known, byte for byte, which the signature proves: it is `body` of this request or, without that, `body` of the delivery. `current`: `body` of the delivery is what would be sent now; this attempt sent something else, because the subject has changed since, or it cannot be proven, because the signing secret has changed or no signature was stored. `gone`: the subject was deleted, and there is no body any more.',
    ),
    body: Type.Optional(
      Type.String({
        description: 'The body that was sent, if it differs from `body` of the delivery.',
      }),
    ),
  },
  { title: 'AttemptRequest', description: 'The request of an attempt.' },
)

const AttemptResponse = Type.Object(
  {
    status: Type.Integer({ description: 'HTTP status.' }),
    headers: MapOf(headerValue, {
      description:
        'Headers that help to find out why a call failed, such as `content-type`, `location`, `retry-after` and `server`; each value up to 200 characters. Empty for attempts before this was stored.',
    }),
    body: Type.String({ description: 'First 4 KB of the body.' }),
  },
  { title: 'AttemptResponse', description: 'The response to an attempt.' },
)

const AttemptDetails = Type.Object(
  {
    number: Type.Integer({ minimum: 1, description: 'Attempt number, from 1.' }),
    startedAt: Timestamp('Time at which the call started.'),
    durationMs: Type.Integer({
      minimum: 0,
      description: 'Milliseconds until the end of the response.',
    }),
    request: AttemptRequest,
    response: Type.Optional(AttemptResponse),
    error: Type.Optional(
      Type.String({ description: 'Reason why the attempt failed; absent if it succeeded.' }),
    ),
  },
  {
    title: 'AttemptDetails',
    description: 'One call to the receiver; `response` is absent if there was none.',
  },
)

const NextAttempt = Type.Object(
  {
    waitsFor: OneOf(
      ['response', 'worker', 'retry', 'turn', 'receiver'],
      '`response`: an attempt is under way; `worker`: it is due; `retry`: until `at`, after a failed attempt; `turn`: earlier deliveries of its ordering key come first; `receiver`: the receiver is paused.',
    ),
    at: Type.Optional(
      Timestamp(
        'Earliest time of the next attempt, or of the next ping of a receiver that is paused after failures; absent if it is not known.',
      ),
    ),
  },
  {
    title: 'NextAttempt',
    description: 'Condition that the next attempt waits for; absent from finished deliveries.',
  },
)

/** A delivery with everything that is known of its attempts. */
export const DeliveryDetails = Type.Object(
  {
    ...Delivery.properties,
    botId: Id('Id of the bot that it is for, or whose installation it is for.'),
    eventType: Type.Optional(
      Type.String({
        description:
          'Type of the event, of deliveries of the kind `event_received`; absent if the event was deleted.',
      }),
    ),
    body: Type.Optional(
      Type.String({
        description:
          'JSON body as it would be sent now, built from the subject; it is not stored. Absent if the subject was deleted. `bodyIs` of an attempt says what that attempt sent.',
      }),
    ),
    attemptLog: Type.Array(AttemptDetails, {
      description: `The last attempts, oldest first; at most ${maxListedAttempts}.`,
    }),
    next: Type.Optional(NextAttempt),
  },
  {
    title: 'DeliveryDetails',
    description: 'A delivery with the request and the response of each attempt.',
  },
)
