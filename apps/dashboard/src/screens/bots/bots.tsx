import { useNavigate, useParams } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useAddressSearch, usePathTo, useScope } from '../../api/address.js'
import { useMay } from '../../api/role.js'
import { Button } from '../../ui/button.js'
import { botstead, curlOf } from '../../ui/commands.js'
import { Id } from '../../ui/copy.js'
import { type Column, DataTable } from '../../ui/data-table.js'
import { Dialog } from '../../ui/dialog.js'
import { Filters } from '../../ui/filters.js'
import { Page, Split } from '../../ui/page.js'
import { useShortcuts } from '../../ui/shortcuts.js'
import { Empty } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { BotDetail } from './bot-detail.js'
import { CreateBot } from './create-bot.js'
import { useBots } from './queries.js'

type BotRow = ReturnType<typeof useBots>['bots'][number]

const columns: readonly Column<BotRow>[] = [
  { id: 'name', header: 'Name', cell: ({ id, name }) => name || id },
  { id: 'id', header: 'Id', cell: ({ id }) => <Id id={id} what="id of the bot" /> },
  { id: 'type', header: 'Type', cell: ({ type }) => type, isOptional: true },
  { id: 'updated', header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  {
    id: 'created',
    header: 'Created',
    cell: ({ createdAt }) => <Time at={createdAt} />,
    isOptional: true,
  },
]

const filterFields = [{ id: 'name', label: 'Filter the bots', placeholder: 'Part of the name' }]

/** The bots of the workspace; the open one with its settings, keys and secrets. */
export function BotsScreen() {
  const { item }: { item?: string } = useParams({ strict: false })
  const { workspaceId } = useScope()
  const [search, change] = useAddressSearch()
  const pathTo = usePathTo()
  const navigate = useNavigate()
  const { query, bots } = useBots(search.name)
  const create = () => change({ new: 'bot' })
  const mayCreate = useMay()('bots:write')
  useShortcuts(mayCreate ? { n: { label: 'New bot', run: create } } : {})
  const newButton = mayCreate && (
    <Button kind="primary" icon={<Plus size={14} />} onClick={create}>
      New bot
    </Button>
  )
  return (
    <Page title="Bots" actions={newButton}>
      <Split
        list={
          <>
            <Filters fields={filterFields} search="name" />
            <DataTable
              label="Bots"
              columns={columns}
              rows={bots}
              idOf={({ id }) => id}
              linkOf={({ id }) => ({ to: pathTo('bots', id) })}
              currentId={item}
              query={query}
              empty={
                (search.name ?? '') !== '' ? (
                  <Empty>No bot has this text in its name.</Empty>
                ) : !mayCreate ? (
                  <Empty>There are no bots yet that you may see.</Empty>
                ) : (
                  <Empty
                    action={newButton}
                    calls={[
                      { name: 'Command', text: botstead(['bots', 'create', 'First']) },
                      {
                        name: 'curl',
                        text: curlOf({
                          method: 'POST',
                          path: '/v1/admin/bots',
                          workspaceId,
                          body: { name: 'First' },
                        }),
                      },
                    ]}
                  >
                    There is no bot yet. A bot has conversations and files of its own, and an
                    address at which your program listens.
                  </Empty>
                )
              }
            />
          </>
        }
        detail={item === undefined ? undefined : <BotDetail key={item} id={item} />}
      />
      {search.new === 'bot' && mayCreate && (
        <Dialog title="New bot" onClose={() => change({ new: undefined })}>
          <CreateBot
            onDone={(id) => void navigate({ to: pathTo('bots', id), search: { tab: 'keys' } })}
          />
        </Dialog>
      )}
    </Page>
  )
}
