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
import { Page, Split } from '../../ui/page.js'
import { columnsOf } from './columns.js'
import { filterFields, keptOf, useLogFilter } from './filter.js'
import { LogChart } from './log-chart.js'
import { LogLineDetail } from './log-line.js'
import { NoLines } from './no-lines.js'
import { itemOf, useLogs, useNewLines } from './queries.js'

/** The logs of all bots and integrations, and the open line. */
export function LogsScreen() {
  const { item }: { item?: string } = useParams({ strict: false })
  const { workspaceId, botId } = useScope()
  const [search, change] = useAddressSearch()
  const pathTo = usePathTo()
  const { bots, nameOf } = useBotNames()
  const filter = useLogFilter()
  const kept = keptOf(search)
  const logs = useLogs(filter)
  const { query, lines } = logs
  const news = useNewLines(filter, logs)
  const [shows, setShows] = useState(0)
  const show = () => {
    setShows(shows + 1)
    void news.show()
  }
  const isEmpty = lines.length === 0 && !query.isPending
  // biome-ignore lint/correctness/useExhaustiveDependencies: paths follow the bot
  const columns = useMemo(() => columnsOf(nameOf, pathTo, botId === undefined), [nameOf, botId])
  const isFiltered = Object.values(kept).some((value) => (value ?? '') !== '')
  const isZoomed = (search.since ?? '') !== '' || (search.until ?? '') !== ''
  const curl = curlOf({ path: '/v1/admin/logs', query: { ...filter }, workspaceId })
  return (
    <Page
      title="Logs"
      actions={
        <>
          {isZoomed && (
            <Button onClick={() => change({ since: undefined, until: undefined })}>
              All times
            </Button>
          )}
          <CopyButton text={curl} what="the call of this list">
            Copy as curl
          </CopyButton>
        </>
      }
    >
      <Split
        list={
          <>
            <Filters fields={filterFields} search="text" />
            <LogChart filter={filter} />
            <NewItems count={news.count} isMore={news.isMore} isListEmpty={isEmpty} onShow={show} />
            <DataTable
              label="Lines"
              columns={columns}
              rows={lines}
              idOf={itemOf}
              linkOf={(line) => ({ to: pathTo('logs', itemOf(line)), search: kept })}
              currentId={item}
              query={query}
              topOf={shows}
              empty={<NoLines isFiltered={isFiltered} botId={botId ?? bots[0]?.id} />}
            />
          </>
        }
        detail={
          item === undefined ? undefined : (
            <LogLineDetail
              key={item}
              item={item}
              known={lines.find((line) => itemOf(line) === item)}
              nameOf={nameOf}
            />
          )
        }
      />
    </Page>
  )
}
