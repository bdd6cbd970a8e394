import { useScope } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import { BotSelect } from '../../ui/bot-select.js'
import { CheckField, FieldFrame, TextField } from '../../ui/form.js'
import formStyles from '../../ui/form.module.css'
import { fromLocal, toLocal } from '../../ui/local-time.js'
import { Time } from '../../ui/time.js'
import type { NewToken, useTokens } from './queries.js'

/** The limits of a new token, as the form has them. */
export interface TokenLimits {
  readOnly: boolean
  isOfWorkspace: boolean
  /** Empty for all bots of the workspace. */
  botId: string
  /** In the form of the input; empty for no end. */
  end: string
}

export const noLimits: TokenLimits = { readOnly: false, isOfWorkspace: false, botId: '', end: '' }

/** The limits as the operation takes them. */
export function inputOf(limits: TokenLimits, workspaceId: string): Omit<NewToken, 'note'> {
  const { readOnly, isOfWorkspace, botId, end } = limits
  const expiresAt = fromLocal(end)
  return {
    ...(readOnly && { readOnly }),
    ...(isOfWorkspace && { workspaceId }),
    ...(isOfWorkspace && botId !== '' && { botId }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

interface FieldsProps {
  limits: TokenLimits
  onChange: (limits: TokenLimits) => void
  faultOf: (field: string) => string | undefined
}

/** Fields that make a token less powerful than its owner. */
export function TokenLimitFields({ limits, onChange, faultOf }: FieldsProps) {
  const { readOnly, isOfWorkspace, botId, end } = limits
  const set = (changes: Partial<TokenLimits>) => onChange({ ...limits, ...changes })
  return (
    <>
      <CheckField
        label="Read only"
        hint="The token changes nothing."
        checked={readOnly}
        onChange={({ target }) => set({ readOnly: target.checked })}
      />
      <CheckField
        label="This workspace only"
        hint="The token reaches no other workspace, and changes nothing of your account."
        checked={isOfWorkspace}
        onChange={({ target }) => set({ isOfWorkspace: target.checked })}
      />
      {isOfWorkspace && (
        <FieldFrame label="Bot of the token" error={faultOf('botId') ?? faultOf('workspaceId')}>
          {(described) => (
            <BotSelect
              {...described}
              className={formStyles.input}
              none="All that you see"
              botId={botId}
              onChange={(id) => set({ botId: id })}
            />
          )}
        </FieldFrame>
      )}
      <TextField
        label="Works until"
        type="datetime-local"
        min={toLocal(new Date().toISOString())}
        hint="Empty for a token that works until you revoke it."
        error={faultOf('expiresAt')}
        value={end}
        onChange={({ target }) => set({ end: target.value })}
      />
    </>
  )
}

type Token = NonNullable<ReturnType<typeof useTokens>['data']>['pats'][number]

/** The limits of a token in words; nothing for one without any. */
export function LimitsOf({ token }: { token: Token }) {
  const { workspaceId } = useScope()
  const { nameOf } = useBotNames()
  const isHere = token.workspaceId === workspaceId
  const limits = [
    token.readOnly === true && 'reads only',
    token.botId !== undefined
      ? `only the bot ${isHere ? nameOf(token.botId) : token.botId}`
      : token.workspaceId !== undefined &&
        (isHere ? 'only this workspace' : `only the workspace ${token.workspaceId}`),
  ].filter((limit) => limit !== false)
  if (limits.length === 0 && token.expiresAt === undefined) return null
  return (
    <div>
      Limits: {limits.join(', ')}
      {token.expiresAt !== undefined && (
        <>
          {limits.length > 0 && ', '}until <Time at={token.expiresAt} />
        </>
      )}
    </div>
  )
}
