import type { Client } from '@botstead/contract'
import { useMemo } from 'react'
import { useAddressSearch } from '../../api/address.js'
import { type FilterField, Filters } from '../../ui/filters.js'
import { formatBytes } from '../../ui/numbers.js'
import { Facts } from '../../ui/page.js'
import { ItemList, Pane, Part } from '../../ui/part.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Status, type StatusKind } from '../../ui/status.js'
import { Time } from '../../ui/time.js'
import { useServer } from './queries.js'

type Server = Awaited<ReturnType<Client['getServer']>>

const partKinds: Record<Server['parts'][number]['status'], StatusKind> = {
  ok: 'done',
  degraded: 'waiting',
  failed: 'attention',
}

const sources: Record<Server['settings'][number]['source'], string> = {
  environment: 'from the environment',
  file: 'from the file .env',
  default: 'the default',
}

const filters: readonly FilterField[] = [{ id: 'q', label: 'Name or meaning' }]

/** The server itself: its version, parts, disks and settings, for the operator. */
export function ServerTab() {
  const { data, error, refetch } = useServer()
  if (error !== null) return <ErrorPanel error={error} retry={() => void refetch()} />
  if (data === undefined) return <Skeleton />
  return (
    <>
      <Facts
        facts={[
          ['Version', data.version],
          ['Node', data.node],
          ['Address', <code key="address">{data.address}</code>],
          ['Started', <Time key="started" at={data.startedAt} />],
          ['Memory', formatBytes(data.memoryBytes)],
          [
            'Database',
            `${data.database.engine} ${data.database.version}, ${formatBytes(data.database.usedBytes)}`,
          ],
          ['Contents of files', data.contents === 's3' ? 'in an object store' : 'on the disk'],
          ...data.disks.map((disk): [string, string] => [
            `Disk of the ${disk.of}`,
            `${formatBytes(disk.freeBytes)} free of ${formatBytes(disk.totalBytes)}`,
          ]),
        ]}
      />
      <Pane>
        <Part title="Parts">
          <ItemList
            items={data.parts}
            idOf={({ name }) => name}
            describe={({ name, detail }) => ({ name, facts: detail ?? '' })}
            actions={({ status }) => <Status kind={partKinds[status]}>{status}</Status>}
          />
        </Part>
        <Settings settings={data.settings} />
      </Pane>
    </>
  )
}

function Settings({ settings }: { settings: Server['settings'] }) {
  const [{ q = '' }] = useAddressSearch()
  const shown = useMemo(() => {
    const words = q.toLowerCase()
    return settings.filter(({ name, meaning }) =>
      `${name} ${meaning}`.toLowerCase().includes(words),
    )
  }, [settings, q])
  return (
    <Part title="Settings" hint="The settings in force. A change takes effect at the next start.">
      <Filters fields={filters} search="q" />
      <ItemList
        items={shown}
        idOf={({ name }) => name}
        describe={({ name, value, source, meaning }) => ({
          name: (
            <code>
              {name}={value}
            </code>
          ),
          facts: `${meaning} (${sources[source]})`,
        })}
      />
    </Part>
  )
}
