import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { everyBot, useScope } from '../api/address.js'
import { list, read, useFurtherPages } from '../api/queries.js'
import { BotSelect } from '../ui/bot-select.js'
import { ChoiceList } from '../ui/choice-list.js'
import { Dialog } from '../ui/dialog.js'
import { type SearchProps, SearchSelect } from '../ui/search-select.js'
import { ErrorPanel } from '../ui/states.js'
import styles from './frame.module.css'

/** The workspace, and below it the bot; the choice is in the address. */
export function Switches() {
  const { workspaceId, botId } = useScope()
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const screen = pathname.split('/')[3] ?? 'home'
  const go = (workspace: string, bot: string) =>
    void navigate({ to: `/${workspace}/${bot}/${screen}` })
  return (
    <div className={styles.switches}>
      <WorkspaceSelect workspaceId={workspaceId} onChange={(id) => go(id, everyBot)} />
      <BotSelect
        aria-label="Bot"
        none="All bots"
        botId={botId ?? ''}
        onChange={(id) => go(workspaceId, id === '' ? everyBot : id)}
      />
    </div>
  )
}

interface WorkspaceSelectProps {
  workspaceId: string
  onChange: (workspaceId: string) => void
}

function WorkspaceSelect({ workspaceId, onChange }: WorkspaceSelectProps) {
  const { data } = useQuery(read({}, 'listWorkspaces', { pageSize: 100 }))
  const workspaces = data?.workspaces ?? []
  const isListed = workspaces.some(({ id }) => id === workspaceId)
  const { data: current } = useQuery({
    ...read({ workspaceId }, 'getWorkspace', { id: workspaceId }),
    enabled: data !== undefined && !isListed,
    placeholderData: undefined,
  })
  return (
    <SearchSelect
      aria-label="Workspace"
      value={workspaceId}
      onChange={onChange}
      newest={workspaces}
      hasMore={data?.meta.nextToken !== undefined}
      nameOf={() => current?.name ?? 'Workspace'}
      Search={WorkspaceSearch}
    />
  )
}

/** Finds a workspace of the account by a part of its name. */
function WorkspaceSearch({ onChoose, onClose }: SearchProps) {
  const [text, setText] = useState('')
  const query = useInfiniteQuery(list({}, 'listWorkspaces', { pageSize: 100 }))
  // The interface does not find workspaces by name: all are read, and looked through here.
  useFurtherPages(query, true)
  const wanted = text.trim().toLowerCase()
  const choices = (query.data?.pages.flatMap(({ workspaces }) => workspaces) ?? [])
    .map(({ id, name, handle }) => ({ key: id, label: name, hint: handle ?? id }))
    .filter(({ key, label, hint }) =>
      [key, label, hint].some((each) => each.toLowerCase().includes(wanted)),
    )
  return (
    <Dialog title="Choose a workspace" onClose={onClose}>
      {query.error !== null && (
        <ErrorPanel error={query.error} retry={() => void query.refetch()} />
      )}
      <ChoiceList
        label="Name of the workspace"
        text={text}
        change={setText}
        choices={choices}
        choose={({ key }) => onChoose(key)}
        none={
          query.isFetching || query.isError ? undefined : 'No workspace has this text in its name.'
        }
      />
    </Dialog>
  )
}
