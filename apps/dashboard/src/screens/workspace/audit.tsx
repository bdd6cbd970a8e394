import { Download } from 'lucide-react'
import { useState } from 'react'
import { useAddressSearch } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { type FilterField, Filters } from '../../ui/filters.js'
import { ItemList, Pane, Part } from '../../ui/part.js'
import { save } from '../../ui/save.js'
import { ShowMore } from '../../ui/show-more.js'
import { Unread } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { noteFailure } from '../../ui/toasts.js'
import { type AuditRecord, toAuditFilter, useAudit, useAuditExport, useMembers } from './queries.js'

/** Kinds of acts that are looked for most; any other operation can stand in the address. */
const operations = [
  'createSession',
  'signInWithPassword',
  'createPersonalAccessToken',
  'createWorkspaceMember',
  'updateWorkspaceMember',
  'deleteWorkspaceMember',
  'createBot',
  'updateBot',
  'deleteBot',
  'transferBot',
  'createBotApiKey',
  'deleteBotApiKey',
  'updateWorkspace',
  'exportAuditRecords',
]

/** Who did what in the workspace, newest first. */
export function Audit() {
  const [search] = useAddressSearch()
  const filter = toAuditFilter(search)
  const { query, records } = useAudit(filter)
  const { members } = useMembers()
  const people = members.flatMap(({ userId, displayName, email }) =>
    userId === undefined ? [] : [{ value: userId, label: displayName || email }],
  )
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return (
    <Pane>
      <Part
        title="Audit log"
        hint="Administrative acts, sign-ins, and what people read of conversations, files and logs."
      >
        <Filters fields={fieldsWith(people)} />
        <Exports filter={filter} />
        {query.data === undefined && <Unread {...query} lines={6} />}
        {query.data !== undefined && records.length === 0 && (
          <p className="muted">
            {isFiltered ? 'No record matches the filters.' : 'Nothing was recorded so far.'}
          </p>
        )}
        <ItemList
          items={records}
          idOf={({ id }) => id}
          describe={(record) => ({
            name: `${personOf(record, people)}: ${wordsOf(record.operation)}${subjectOf(record)}`,
            facts: <Facts record={record} />,
          })}
        />
        <ShowMore query={query} />
      </Part>
    </Pane>
  )
}

type People = readonly { value: string; label: string }[]

function fieldsWith(people: People): FilterField[] {
  return [
    { id: 'userId', label: 'Person', options: people },
    {
      id: 'operation',
      label: 'Act',
      options: operations.map((value) => ({ value, label: wordsOf(value) })),
    },
    { id: 'afterDate', label: 'From', kind: 'time' },
    { id: 'beforeDate', label: 'Until', kind: 'time' },
  ]
}

function Exports({ filter }: { filter: ReturnType<typeof toAuditFilter> }) {
  const read = useAuditExport()
  const [running, setRunning] = useState<'csv' | 'jsonl'>()
  const run = (format: 'csv' | 'jsonl') => {
    setRunning(format)
    read(filter, format)
      .then((content) => save(content, `audit-${new Date().toISOString().slice(0, 10)}.${format}`))
      .catch(noteFailure)
      .finally(() => setRunning(undefined))
  }
  return (
    <p>
      {(['csv', 'jsonl'] as const).map((format) => (
        <Button
          key={format}
          icon={<Download size={14} />}
          isBusy={running === format}
          onClick={() => run(format)}
        >
          {format === 'csv' ? 'Export as CSV' : 'Export as JSON lines'}
        </Button>
      ))}
    </p>
  )
}

function Facts({ record }: { record: AuditRecord }) {
  const changes = changesOf(record)
  return (
    <>
      <Time at={record.recordedAt} />
      {`, ${proofOf(record)}`}
      {record.address !== null && `, from ${record.address}`}
      {changes.length > 0 && (
        <ul>
          {changes.map(({ field, text }) => (
            <li key={field}>
              {field}
              {text}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** `updateBotAllowlist` as `update bot allowlist`. */
function wordsOf(operation: string): string {
  const words = operation.replaceAll(/([A-Z][a-z]+|[A-Z]+(?![a-z])|\.)/g, ' $1')
  return words.replaceAll('.', '').replaceAll(/ +/g, ' ').toLowerCase()
}

function personOf({ userId, userEmail, authority }: AuditRecord, people: People): string {
  const known = people.find(({ value }) => value === userId)?.label
  if (known !== undefined) return known
  if (userId !== null) return userEmail ?? userId
  return authority === 'operator' ? 'The operator' : 'The server'
}

function subjectOf({ resourceName, resourceId }: AuditRecord): string {
  const name = resourceName ?? resourceId
  return name === null ? '' : ` ${name}`
}

function proofOf({ authority, tokenNote }: AuditRecord): string {
  switch (authority) {
    case 'session':
      return 'in a browser'
    case 'token':
      return tokenNote === null ? 'with a token' : `with the token ${tokenNote}`
    case 'operator':
      return 'by a command'
    case 'server':
      return 'by itself'
    default:
      return authority satisfies never
  }
}

/** The changed fields, with their values where these are recorded. */
function changesOf({ value }: AuditRecord): { field: string; text: string }[] {
  if (value === null || value === undefined) return []
  const changes: Record<string, { from?: unknown; to?: unknown }> = JSON.parse(value)
  return Object.entries(changes).map(([field, change]) => {
    const parts = [
      'from' in change && `from ${JSON.stringify(change.from)}`,
      'to' in change && `to ${JSON.stringify(change.to)}`,
    ].filter(Boolean)
    return { field, text: parts.length === 0 ? '' : `: ${parts.join(' ')}` }
  })
}
