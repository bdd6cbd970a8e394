import { useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useAddressSearch, usePathTo, useScope } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import { Button } from '../../ui/button.js'
import { curlOf } from '../../ui/commands.js'
import { CopyButton } from '../../ui/copy.js'
import { DataTable } from '../../ui/data-table.js'
import { Filters } from '../../ui/filters.js'
import { NewItems } from '../../ui/new-items.js'
import { formatNumber } from '../../ui/numbers.js'
import { Page, Split } from '../../ui/page.js'
import { useShortcuts } from '../../ui/shortcuts.js'
import { Tabs } from '../../ui/tabs.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { columnsOf } from './columns.js'
import { DeliveryDetail } from './delivery-detail.js'
import {
  type DeliveryFilter,
  filterFields,
  filtersOf,
  statusOf,
  useDeliveryFilter,
} from './filter.js'
import { NoDeliveries } from './no-deliveries.js'
import {
  type Counts,
  type Delivery,
  useDeliveries,
  useDeliveryActions,
  useDeliveryCounts,
  usePrefetchDelivery,
} from './queries.js'
import { Receivers } from './receivers.js'
import { ReplayDialog } from './replay-dialog.js'
import { Replays } from './replays.js'
import { TestDialog } from './test-dialog.js'

/** The deliveries to bots and integrations, and the open one. */
export function DeliveriesScreen() {
  const { item }: { item?: string } = useParams({ strict: false })
  const { workspaceId, botId } = useScope()
  const [search, change] = useAddressSearch()
  const pathTo = usePathTo()
  const { bots, nameOf } = useBotNames()
  const filter = useDeliveryFilter()
  const status = statusOf(search)
  const { query, deliveries, counts, total, news, hasMoreNews, show } = useDeliveries(
    filter,
    status,
  )
  const prefetch = usePrefetchDelivery()
  const [shows, setShows] = useState(0)
  const { replay, replayMany } = useDeliveryActions()
  const replayOne = async (delivery: Pick<Delivery, 'id' | 'botId'>) =>
    await replay(delivery).then(() => note('The delivery is sent again.'), noteFailure)
  const replaySelected = async (ids: readonly string[]) => {
    const chosen = new Set(ids)
    const known = deliveries.filter(({ id }) => chosen.has(id))
    const [only] = known
    if (known.length === 1 && only !== undefined) return await replayOne(only)
    await replayMany({ ids: [...ids], status: ['failed', 'delivered', 'canceled'] }).then(
      () => note('The replay has begun.'),
      noteFailure,
    )
  }
  useShortcuts({
    r: {
      label: 'Replay the delivery of the row',
      run: () => {
        const id = document.activeElement?.closest('tr')?.dataset.row
        const delivery = deliveries.find((one) => one.id === id)
        if (delivery !== undefined) void replayOne(delivery)
      },
    },
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: paths follow the bot
  const columns = useMemo(() => columnsOf(nameOf, pathTo), [nameOf, botId])
  const isFiltered =
    status !== undefined || Object.values(filtersOf(search)).some((value) => (value ?? '') !== '')
  const close = () => change({ dialog: undefined })
  return (
    <Page
      title="Deliveries"
      actions={
        <>
          <Button onClick={() => change({ dialog: 'replay' })}>Replay…</Button>
          <Button onClick={() => change({ dialog: 'test' })}>Test event</Button>
          <CopyButton
            what="the call of this list"
            text={curlOf({
              path: '/v1/admin/deliveries',
              query: { ...filter, status },
              workspaceId,
            })}
          >
            Copy as curl
          </CopyButton>
        </>
      }
    >
      <Split
        list={
          <>
            <Receivers />
            <Replays />
            <StatusTabs filter={filter} status={status} listed={counts} />
            <Filters fields={filterFields} />
            <NewItems
              count={news}
              isMore={hasMoreNews}
              isListEmpty={deliveries.length === 0}
              onShow={() => {
                setShows(shows + 1)
                void show()
              }}
            />
            <DataTable
              label="Deliveries"
              columns={columns}
              rows={deliveries}
              idOf={({ id }) => id}
              linkOf={({ id }) => ({ to: pathTo('deliveries', id) })}
              currentId={item}
              prefetch={prefetch}
              query={query}
              total={total}
              topOf={shows}
              selectionActions={(ids, clear) => (
                <>
                  <Button onClick={() => void replaySelected(ids).then(clear)}>
                    Replay the selected
                  </Button>
                  <Button onClick={() => change({ dialog: 'replay' })}>
                    Replay all that match…
                  </Button>
                  <Button kind="quiet" onClick={clear}>
                    Clear
                  </Button>
                </>
              )}
              empty={
                <NoDeliveries
                  isFiltered={isFiltered}
                  workspaceId={workspaceId}
                  botId={botId ?? bots[0]?.id}
                />
              }
            />
          </>
        }
        detail={item === undefined ? undefined : <DeliveryDetail key={item} id={item} />}
      />
      {search.dialog === 'replay' && (
        <ReplayDialog
          filter={filter}
          status={status === undefined || status === 'pending' ? 'failed' : status}
          onClose={close}
        />
      )}
      {search.dialog === 'test' && <TestDialog onClose={close} />}
    </Page>
  )
}

const statuses = [
  { id: 'all', label: 'All' },
  { id: 'failed', label: 'Failed' },
  { id: 'pending', label: 'Waiting' },
  { id: 'delivered', label: 'Delivered' },
  { id: 'canceled', label: 'Canceled' },
] as const

interface StatusTabsProps {
  filter: DeliveryFilter
  status: string | undefined
  /** Numbers of what the list shows. */
  listed: Counts | undefined
}

/** The statuses with the number of deliveries that have them. */
function StatusTabs({ filter, status = 'all', listed }: StatusTabsProps) {
  const isAll = status === 'all'
  const all = useDeliveryCounts(filter, !isAll)
  const counts = isAll ? listed : all
  const tabs = statuses.map(({ id, label }) => {
    if (counts === undefined || id === 'all') return { id, label }
    const more = counts[id] > 0 && !counts.isExact ? '+' : ''
    return { id, label: `${label} ${formatNumber(counts[id])}${more}` }
  })
  return <Tabs tabs={tabs} current={status} param="status" name="Status" />
}
