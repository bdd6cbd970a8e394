import { curlOfRequest } from '../../ui/commands.js'
import { CopyButton } from '../../ui/copy.js'
import { Json } from '../../ui/json.js'
import { jsonOrText } from '../../ui/json-text.js'
import { Facts } from '../../ui/page.js'
import { Status } from '../../ui/status.js'
import { describeDuration, Time } from '../../ui/time.js'
import styles from './deliveries.module.css'
import type { Attempt } from './queries.js'

const meaningOfBody = {
  sent: 'This is, byte for byte, what was sent: the signature proves it.',
  current:
    'This is what would be sent now. What was sent may differ: the message, the event or the signing secret has changed since, or no signature was stored.',
  gone: 'There is no body any more: the message or event was deleted.',
} as const

interface AttemptProps {
  attempt: Attempt
  /** Body of the calls. */
  body: string | undefined
  isOpen: boolean
}

/** One call to the receiver: its request and its response. */
export function AttemptView({ attempt, body, isOpen }: AttemptProps) {
  const { number, startedAt, durationMs, request, response, error } = attempt
  return (
    <details className={styles.attempt} open={isOpen}>
      <summary>
        <span>Attempt {number}</span>{' '}
        <Status kind={error === undefined ? 'done' : 'attention'}>
          {response === undefined ? 'No response' : `Status ${response.status}`}
        </Status>{' '}
        <span className="muted">
          <Time at={startedAt} />, {describeDuration(durationMs)}
        </span>
      </summary>
      <div className={styles.parts}>
        {error !== undefined && <p className={styles.error}>{error}</p>}
        <section className={styles.part}>
          <header className={styles.partHeader}>
            <h3>Response</h3>
          </header>
          {response === undefined ? (
            <p className="muted">There was none.</p>
          ) : (
            <>
              <Headers headers={response.headers} />
              {response.body === '' ? (
                <p className="muted">Its body was empty.</p>
              ) : (
                <Body label="Body of the response (first 4 KB)" text={response.body} />
              )}
            </>
          )}
        </section>
        <section className={styles.part}>
          <header className={styles.partHeader}>
            <h3>Request</h3>
            <CopyButton text={curlOfRequest(request, body)} what="the request">
              Copy as curl
            </CopyButton>
          </header>
          <p className={styles.url}>
            <code>
              {request.method} {request.url ?? '(the address was not stored)'}
            </code>
          </p>
          {request.signature !== undefined && (
            <Facts
              facts={[
                ['Signature', <code key="signature">{request.signature.value}</code>],
                [
                  'It signs',
                  <span key="signed">
                    <code>{request.signature.signedPrefix}</code> followed by the body, with
                    HMAC-SHA256
                  </span>,
                ],
              ]}
            />
          )}
          <Headers headers={request.headers} />
          <p className="muted">{meaningOfBody[request.bodyIs]}</p>
          {body !== undefined && <Body label="Body of the request" text={body} />}
        </section>
      </div>
    </details>
  )
}

function Headers({ headers }: { headers: Record<string, string> }) {
  const all = Object.entries(headers)
  if (all.length === 0) return null
  return (
    <dl className={styles.headers}>
      {all.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A body: indented if it is JSON; what is copied is the original. */
function Body({ label, text }: { label: string; text: string }) {
  return <Json label={label} value={jsonOrText(text)} copied={text} />
}
