import { useState } from 'react'
import { Button } from './button.js'
import { Form, TextField } from './form.js'
import { ItemList, Pane, Part } from './part.js'
import { SecretOnce } from './secret-once.js'
import { ErrorPanel, Skeleton } from './states.js'
import { Time } from './time.js'
import { note, noteFailure } from './toasts.js'

/** A credential as lists contain it. */
interface Key {
  id: string
  note: string
  createdAt: string
  lastUsedAt?: string
}

interface KeysProps {
  /** The owner of the keys, such as `bot`. */
  of: string
  /** Undefined while they are read. */
  keys: readonly Key[] | undefined
  error: unknown
  refetch: () => unknown
  /** Creates a key; returns its value. */
  create: (note: string) => Promise<string>
  revoke: (id: string) => Promise<void>
  /** Replaces the secret that signs calls; returns the new one. */
  rotateSecret: () => Promise<string>
}

/** Keys with which programs act for something, and the secret that signs calls to it. */
export function Keys({ of, keys, error, refetch, create, revoke, rotateSecret }: KeysProps) {
  const [purpose, setPurpose] = useState('')
  const [shown, setShown] = useState<{ what: string; value: string }>()
  return (
    <Pane>
      {shown !== undefined && <SecretOnce {...shown} />}
      <Part title="Keys" hint={`A program with such a key acts for this ${of} alone.`}>
        {error !== null && <ErrorPanel error={error} retry={() => void refetch()} />}
        {keys === undefined && error === null && <Skeleton lines={2} />}
        <ItemList
          items={keys ?? []}
          idOf={({ id }) => id}
          describe={(key) => ({
            name: key.note || 'Without a note',
            facts: (
              <>
                Created <Time at={key.createdAt} />, <LastUse at={key.lastUsedAt} />
              </>
            ),
          })}
          actions={(key) => (
            <Button
              kind="danger"
              onClick={() => {
                revoke(key.id).then(() => note('The key no longer works.'), noteFailure)
              }}
            >
              Revoke
            </Button>
          )}
        />
        <Form
          submit="Create a key"
          onSubmit={async () => {
            setShown({ what: 'key', value: await create(purpose) })
            setPurpose('')
          }}
        >
          {(faultOf) => (
            <TextField
              label="What the new key is for"
              maxLength={500}
              error={faultOf('note')}
              value={purpose}
              onChange={(event) => setPurpose(event.target.value)}
            />
          )}
        </Form>
      </Part>
      <Part
        title="Signing secret"
        hint={`Calls to the ${of} are signed with it. After a rotation, calls are signed with the previous one too, for 24 hours.`}
      >
        <Button
          onClick={() => {
            rotateSecret().then((value) => setShown({ what: 'signing secret', value }), noteFailure)
          }}
        >
          Rotate the secret
        </Button>
      </Part>
    </Pane>
  )
}

/** The time at which a credential was last used. */
export function LastUse({ at }: { at: string | undefined }) {
  if (at === undefined) return 'never used'
  return (
    <>
      used <Time at={at} />
    </>
  )
}
