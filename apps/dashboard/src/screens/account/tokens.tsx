import { useState } from 'react'
import { useScope } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { Form, TextField } from '../../ui/form.js'
import { LastUse } from '../../ui/keys.js'
import { ItemList, Pane, Part } from '../../ui/part.js'
import { SecretOnce } from '../../ui/secret-once.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { note } from '../../ui/toasts.js'
import { useAccountActions, useTokens } from './queries.js'
import { inputOf, LimitsOf, noLimits, TokenLimitFields, type TokenLimits } from './token-limits.js'

/** Personal access tokens of the account, with which programs act for it. */
export function Tokens() {
  const { createToken, removeToken } = useAccountActions()
  const { workspaceId } = useScope()
  const { data, error, refetch } = useTokens()
  const [purpose, setPurpose] = useState('')
  const [limits, setLimits] = useState<TokenLimits>(noLimits)
  const [made, setMade] = useState<string>()
  const [revoked, setRevoked] = useState<{ id: string; note: string }>()
  return (
    <Pane>
      <Part
        title="New token"
        hint="A personal access token has your permissions, or fewer if you limit it. Give a program that serves one bot a key of that bot instead."
      >
        <Form
          submit="Create a token"
          onSubmit={async () => {
            setMade(await createToken({ note: purpose, ...inputOf(limits, workspaceId) }))
            setPurpose('')
            setLimits(noLimits)
          }}
        >
          {(faultOf) => (
            <>
              <TextField
                label="What it is for"
                required
                maxLength={500}
                error={faultOf('note')}
                value={purpose}
                onChange={(event) => setPurpose(event.target.value)}
              />
              <TokenLimitFields limits={limits} onChange={setLimits} faultOf={faultOf} />
            </>
          )}
        </Form>
        {made !== undefined && <SecretOnce what="token" value={made} />}
      </Part>
      <Part title="Your tokens">
        {error !== null && <ErrorPanel error={error} retry={() => void refetch()} />}
        {data === undefined && error === null && <Skeleton lines={3} />}
        <ItemList
          items={data?.pats ?? []}
          idOf={({ id }) => id}
          describe={(token) => ({
            name: token.note || 'Without a note',
            facts: (
              <>
                Created <Time at={token.createdAt} />, <LastUse at={token.lastUsedAt} />
                <LimitsOf token={token} />
              </>
            ),
          })}
          actions={(token) => (
            <Button kind="danger" onClick={() => setRevoked(token)}>
              Revoke
            </Button>
          )}
        />
      </Part>
      {revoked !== undefined && (
        <Dialog title="Revoke the token?" onClose={() => setRevoked(undefined)}>
          <Form
            submit="Revoke"
            isDangerous
            onSubmit={async () => {
              await removeToken(revoked.id)
              setRevoked(undefined)
              note('The token no longer works.')
            }}
          >
            {() => (
              <p>
                Programs that use the token “{revoked.note || 'without a note'}” are refused from
                then on.
              </p>
            )}
          </Form>
        </Dialog>
      )}
    </Pane>
  )
}
