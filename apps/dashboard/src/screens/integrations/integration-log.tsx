import { Link } from '@tanstack/react-router'
import { useAddressSearch, usePathTo } from '../../api/address.js'
import { SelectField } from '../../ui/form.js'
import { LevelWord } from '../../ui/level.js'
import { ItemList, Pane, Part } from '../../ui/part.js'
import { Empty, ErrorPanel, Skeleton } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { useIntegrationLogs } from './queries.js'

/** The newest lines of the log of an integration: registrations, webhooks and actions. */
export function IntegrationLog({ id }: { id: string }) {
  const pathTo = usePathTo()
  const [{ level }, change] = useAddressSearch()
  const { data, error, refetch } = useIntegrationLogs(id, level)
  return (
    <Pane>
      <Part
        title="Newest lines"
        hint={
          <>
            Of the last week, at most 100.{' '}
            <Link to={pathTo('logs')} search={{ integration: id }}>
              Open the logs
            </Link>{' '}
            for all of them.
          </>
        }
      >
        <SelectField
          label="Level"
          options={[
            { value: '', label: 'any' },
            { value: 'info', label: 'info' },
            { value: 'warn', label: 'warn' },
            { value: 'error', label: 'error' },
          ]}
          value={level ?? ''}
          onChange={(event) => change({ level: event.target.value })}
        />
        {error !== null && <ErrorPanel error={error} retry={() => void refetch()} />}
        {data === undefined && error === null && <Skeleton lines={5} />}
        {data?.logs.length === 0 && <Empty>Nothing happened in this time.</Empty>}
        <ItemList
          items={data?.logs.map((line, index) => ({ ...line, key: `${index}` })) ?? []}
          idOf={({ key }) => key}
          describe={(line) => ({
            name: line.message,
            facts: (
              <>
                <LevelWord level={line.level} /> <Time at={line.timestamp} />
                {line.botId !== undefined && (
                  <>
                    {' '}
                    <Link to={pathTo('bots', line.botId)}>bot</Link>
                  </>
                )}
              </>
            ),
          })}
        />
      </Part>
    </Pane>
  )
}
