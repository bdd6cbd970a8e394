import { useNavigate } from '@tanstack/react-router'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { type Search, usePathTo } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { Detail } from '../../ui/page.js'
import { Panes } from '../../ui/panes.js'
import { useShortcuts } from '../../ui/shortcuts.js'
import { Unread } from '../../ui/states.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { About } from './about.js'
import { describePeople } from './columns.js'
import { Conversation } from './conversation.js'
import { type ConversationFilter, ofOpenItem } from './filter.js'
import { useConversation, useNeighbour } from './queries.js'

/** The open conversation: its transcript, and beside it who takes part and what is stored. */
export function ConversationDetail({ id, filter }: { id: string; filter: ConversationFilter }) {
  const pathTo = usePathTo()
  const { data, error, refetch } = useConversation(id)
  const conversation = data?.conversation
  return (
    <Detail
      title={conversation === undefined ? id : describePeople(conversation)}
      back={pathTo('conversations')}
      actions={<Neighbours id={id} filter={filter} />}
    >
      {conversation === undefined ? (
        <Unread error={error} refetch={refetch} />
      ) : (
        <Panes
          main={{
            id: 'transcript',
            label: 'Transcript',
            content: <Conversation conversation={conversation} />,
          }}
          side={{ id: 'about', label: 'About', content: <About conversation={conversation} /> }}
        />
      )}
    </Detail>
  )
}

/** The conversations before and behind this one in the filter, also those that are not loaded. */
function Neighbours({ id, filter }: { id: string; filter: ConversationFilter }) {
  const pathTo = usePathTo()
  const navigate = useNavigate()
  const find = useNeighbour(filter)
  const open = (direction: 'next' | 'previous') => {
    find(id, direction).then((found) => {
      if (found === undefined) note(`There is no ${direction} conversation in this filter.`)
      else
        void navigate({
          to: pathTo('conversations', found),
          search: (before: Search) => ({ ...before, ...ofOpenItem }),
        })
    }, noteFailure)
  }
  useShortcuts({
    ']': { label: 'Open the next conversation', run: () => open('next') },
    '[': { label: 'Open the previous conversation', run: () => open('previous') },
  })
  return (
    <>
      <Button
        kind="quiet"
        icon={<ArrowUp size={16} />}
        aria-label="Previous conversation ([)"
        title="Previous conversation ([)"
        onClick={() => open('previous')}
      />
      <Button
        kind="quiet"
        icon={<ArrowDown size={16} />}
        aria-label="Next conversation (])"
        title="Next conversation (])"
        onClick={() => open('next')}
      />
    </>
  )
}
