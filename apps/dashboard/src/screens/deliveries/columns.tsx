import { Link } from '@tanstack/react-router'
import { Id } from '../../ui/copy.js'
import type { Column } from '../../ui/data-table.js'
import { Status } from '../../ui/status.js'
import { Time } from '../../ui/time.js'
import { contentOf, conversationOf, receiverOf, stateOf } from './describe.js'
import type { Delivery } from './queries.js'

/** The columns of the list. */
export function columnsOf(
  nameOf: (botId: string) => string,
  pathTo: (...segments: string[]) => string,
): Column<Delivery>[] {
  return [
    { id: 'what', header: 'What', cell: contentOf },
    {
      id: 'status',
      header: 'Status',
      cell: (row) => {
        const { kind, word } = stateOf(row)
        return <Status kind={kind}>{word}</Status>
      },
    },
    { id: 'to', header: 'To', cell: (row) => receiverOf(row, nameOf) },
    { id: 'created', header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: 'attempts', header: 'Attempts', isNumeric: true, cell: ({ attempts }) => attempts },
    {
      id: 'next',
      header: 'Next attempt',
      cell: ({ nextAttemptAt }) => nextAttemptAt !== undefined && <Time at={nextAttemptAt} />,
    },
    { id: 'error', header: 'Last error', cell: ({ lastError }) => lastError },
    {
      id: 'conversation',
      header: 'Conversation',
      cell: (row) => {
        const id = conversationOf(row)
        return id !== undefined && <Link to={pathTo('conversations', id)}>Open</Link>
      },
    },
    {
      id: 'id',
      header: 'Id',
      isOptional: true,
      cell: ({ id }) => <Id id={id} what="id of the delivery" />,
    },
    {
      id: 'changed',
      header: 'Changed',
      isOptional: true,
      cell: ({ updatedAt }) => <Time at={updatedAt} />,
    },
  ]
}
