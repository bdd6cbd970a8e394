import { quotaTypes, type UsageType } from '@botstead/contract'
import { Link } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { usePathTo, useScope } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import { useMay } from '../../api/role.js'
import { Button } from '../../ui/button.js'
import { Id } from '../../ui/copy.js'
import { Name } from '../../ui/name.js'
import { formatNumber } from '../../ui/numbers.js'
import { ItemList, Part } from '../../ui/part.js'
import { save } from '../../ui/save.js'
import { Unread } from '../../ui/states.js'
import { noteFailure } from '../../ui/toasts.js'
import type { ServerQuotas } from '../../ui/usage/figures.js'
import { formatUsage, kindOf, workspaceTypes } from '../../ui/usage/kinds.js'
import { daysOf } from '../../ui/usage/months.js'
import { UsageView } from '../../ui/usage/usage-view.js'
import { Limits } from './limits.js'
import { useLimits, useSetQuota, useUsageByBot, useUsageExport } from './queries.js'

/** The usage of the workspace and its bots, with the quotas of the workspace and the limits of the server. */
export function UsageTab() {
  const { workspaceId } = useScope()
  const setQuota = useSetQuota()
  const mayWrite = useMay()('workspace:write')
  return (
    <UsageView
      id={workspaceId}
      types={workspaceTypes}
      limited={quotaTypes}
      ofServer={useServerQuotas()}
      setQuota={mayWrite ? setQuota : undefined}
      actions={(month) => <Export month={month} />}
    >
      {(shown) => (
        <>
          <ByBot key={`${shown.type} ${shown.month}`} {...shown} />
          <Limits />
        </>
      )}
    </UsageView>
  )
}

/** The limits of the server that are quotas of a type too. */
const limitTypes: Record<string, UsageType> = {
  storage: 'storage_count',
  indexedStorage: 'knowledgebase_vector_storage',
  calls: 'invocation_calls',
}

function useServerQuotas(): ServerQuotas {
  const { data } = useLimits()
  return Object.fromEntries(
    data?.limits.flatMap(({ name, limit }) => {
      const type = limitTypes[name]
      return type === undefined ? [] : [[type, limit]]
    }) ?? [],
  )
}

function Export({ month }: { month: string }) {
  const read = useUsageExport()
  const [isBusy, setBusy] = useState(false)
  const run = () => {
    const days = daysOf(month)
    setBusy(true)
    read({ dateFrom: days[0] ?? '', dateUntil: days.at(-1) ?? '' })
      .then((content) => save(content, `usage-${month}.csv`))
      .catch(noteFailure)
      .finally(() => setBusy(false))
  }
  return (
    <Button icon={<Download size={14} />} isBusy={isBusy} onClick={run}>
      Export as CSV
    </Button>
  )
}

/** Bots that are shown at first. */
const few = 20

function ByBot({ type, month }: { type: UsageType; month: string }) {
  const { data, error, refetch } = useUsageByBot(type, month)
  const [isWhole, setWhole] = useState(false)
  const all = data?.data ?? []
  const bots = isWhole ? all : all.slice(0, few)
  return (
    <Part title="By bot" hint={`${kindOf(type).label}, highest usage first.`}>
      {data === undefined && <Unread error={error} refetch={refetch} lines={3} />}
      {data !== undefined && all.length === 0 && (
        <p className="muted">No bot used anything in this month.</p>
      )}
      <BotItems type={type} bots={bots} />
      {all.length > bots.length && (
        <Button onClick={() => setWhole(true)}>Show all {formatNumber(all.length)}</Button>
      )}
    </Part>
  )
}

type BotUsage = NonNullable<ReturnType<typeof useUsageByBot>['data']>['data'][number]

function BotItems({ type, bots }: { type: UsageType; bots: readonly BotUsage[] }) {
  const pathTo = usePathTo()
  const maySee = useMay()('bots:read')
  const { nameOf, isGone } = useBotNames()
  return (
    <ItemList
      items={bots}
      idOf={({ botId }) => botId}
      describe={({ botId }) => {
        const name = nameOf(botId)
        if (!maySee) return { name: 'Bot', facts: <Id id={botId} what="id of the bot" /> }
        if (isGone(botId)) {
          return { name: 'Deleted or moved bot', facts: <Id id={botId} what="id of the bot" /> }
        }
        return {
          name: (
            <Link to={pathTo('bots', botId)} search={{ tab: 'usage' }}>
              <Name>{name}</Name>
            </Link>
          ),
          facts: '',
        }
      }}
      actions={({ value }) => <span className="numeric">{formatUsage(type, value)}</span>}
    />
  )
}
