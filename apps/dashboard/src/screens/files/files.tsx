import { useParams } from '@tanstack/react-router'
import { Upload } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { type Search, useAddressSearch, usePathTo, useScope } from '../../api/address.js'
import { useMay } from '../../api/role.js'
import { Button } from '../../ui/button.js'
import { ChooseBot } from '../../ui/choose-bot.js'
import { botstead, curlOf, curlOfContent } from '../../ui/commands.js'
import { type Column, DataTable } from '../../ui/data-table.js'
import { type FilterField, Filters } from '../../ui/filters.js'
import { Name, shownName } from '../../ui/name.js'
import { formatBytes } from '../../ui/numbers.js'
import { Page, Split } from '../../ui/page.js'
import { useShortcuts } from '../../ui/shortcuts.js'
import { Empty } from '../../ui/states.js'
import { describeTags, tagConditionsOf } from '../../ui/tags.js'
import { Time } from '../../ui/time.js'
import { FileDetail } from './file-detail.js'
import styles from './files.module.css'
import { Folders } from './folders.js'
import { IndexingReportLink } from './indexing-report.js'
import { type File, type ListInput, useFiles, usePrefetchFile, useTagNames } from './queries.js'
import { SelectionActions } from './selection-actions.js'
import { FileStatus, fileStatuses } from './statuses.js'
import type { Chosen } from './uploads/chosen.js'
import { UploadDialog } from './uploads/upload-dialog.js'
import { UploadList } from './uploads/upload-list.js'
import uploadStyles from './uploads/uploads.module.css'
import { useDrop } from './uploads/use-drop.js'

/** The orders of the list by their names in the address; the first is the usual one. */
const orders = {
  newest: { label: 'newest first', sortField: 'createdAt', sortDirection: 'desc' },
  changed: { label: 'changed last first', sortField: 'updatedAt', sortDirection: 'desc' },
  key: { label: 'by key', sortField: 'key', sortDirection: 'asc' },
  largest: { label: 'largest first', sortField: 'size', sortDirection: 'desc' },
} as const

const isOrder = (text: string | undefined): text is keyof typeof orders =>
  text !== undefined && text in orders
const isStatus = (text: string | undefined): text is File['status'] =>
  text !== undefined && text in fileStatuses

/** The filters of the address, as the operation takes them. */
function inputOf({ text, status, tags, prefix, order }: Search): ListInput {
  const { sortField, sortDirection } = orders[isOrder(order) ? order : 'newest']
  return {
    sortField,
    sortDirection,
    ...(text !== undefined && { text }),
    ...(prefix !== undefined && { prefix }),
    ...(status === 'failed' && { status: ['upload_failed', 'indexing_failed'] }),
    ...(isStatus(status) && { status: [status] }),
    ...(tags !== undefined && { tags: tagConditionsOf(tags) }),
  }
}

/** @param hasFailed whether a listed file failed: then the column with the reasons is shown */
function columnsFor(prefix: string, hasFailed: boolean): readonly Column<File>[] {
  return [
    {
      id: 'key',
      header: 'Key',
      cell: ({ key }) => (
        <span title={shownName(key)}>
          <Name>{key.slice(prefix.length) || key}</Name>
        </span>
      ),
    },
    {
      id: 'status',
      header: 'Status',
      cell: (file) => (
        <>
          <FileStatus file={file} /> <IndexingReportLink file={file} isShort />
        </>
      ),
    },
    {
      id: 'reason',
      header: 'Reason',
      cell: ({ failedStatusReason }) => failedStatusReason,
      isOptional: !hasFailed,
    },
    {
      id: 'size',
      header: 'Size',
      isNumeric: true,
      cell: ({ size }) => (size === null ? '–' : formatBytes(size)),
    },
    {
      id: 'tags',
      header: 'Tags',
      cell: ({ tags }) => describeTags(tags),
    },
    { id: 'created', header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: 'updated',
      header: 'Changed',
      cell: ({ updatedAt }) => <Time at={updatedAt} />,
      isOptional: true,
    },
    { id: 'type', header: 'Type', cell: ({ contentType }) => contentType, isOptional: true },
    {
      id: 'expires',
      header: 'Expires',
      cell: ({ expiresAt }) => (expiresAt === undefined ? '' : <Time at={expiresAt} />),
      isOptional: true,
    },
    { id: 'id', header: 'Id', cell: ({ id }) => <code>{id}</code>, isOptional: true },
  ]
}

const statusOptions = [
  { value: 'failed', label: 'failed' },
  ...Object.entries(fileStatuses).map(([value, { label }]) => ({
    value,
    label: label.toLowerCase(),
  })),
]
const orderOptions = Object.entries(orders).map(([value, { label }]) => ({ value, label }))

/** The files of a bot; they are uploaded by dropping them anywhere on the screen. */
export function FilesScreen() {
  const { item }: { item?: string } = useParams({ strict: false })
  const { botId } = useScope()
  if (botId === undefined) {
    return (
      <Page title="Files">
        <ChooseBot screen={item === undefined ? 'files' : `files/${item}`} what="Files" />
      </Page>
    )
  }
  return <FilesOfBot key={botId} item={item} />
}

function FilesOfBot({ item }: { item: string | undefined }) {
  const [search, change] = useAddressSearch()
  const pathTo = usePathTo()
  const [chosen, setChosen] = useState<readonly Chosen[]>([])
  const mayWrite = useMay()('files:write')
  const isAbove = useDrop(mayWrite ? setChosen : ignore)
  const input = useRef<HTMLInputElement>(null)
  const { query, files } = useFiles(inputOf(search))
  const tagNames = useTagNames()
  const prefetch = usePrefetchFile()
  const choose = () => input.current?.click()
  useShortcuts(mayWrite ? { u: { label: 'Upload files', run: choose } } : {})

  const { prefix = '', text, status, tags } = search
  const fields: readonly FilterField[] = [
    { id: 'text', label: 'Key', placeholder: 'Part of the key' },
    { id: 'status', label: 'Status', options: statusOptions },
    {
      id: 'tags',
      label: 'Tags',
      placeholder: 'team=office, lang=en',
      suggestions: tagNames.data?.tags.map((name) => `${name}=`) ?? [],
    },
    { id: 'order', label: 'Order', options: orderOptions },
  ]
  const hasFailed = files.some(({ failedStatusReason }) => failedStatusReason !== undefined)
  const columns = useMemo(() => columnsFor(prefix, hasFailed), [prefix, hasFailed])
  const isFiltered = [text, status, tags].some((value) => (value ?? '') !== '')
  return (
    <Page
      title="Files"
      actions={
        mayWrite && (
          <>
            <Button kind="primary" icon={<Upload size={14} />} onClick={choose}>
              Upload files
            </Button>
            <input
              ref={input}
              type="file"
              multiple
              hidden
              aria-label="Files to upload"
              onChange={({ target }) => {
                const contents = [...(target.files ?? [])]
                setChosen(contents.map((content) => ({ path: content.name, content })))
                // The same files can be chosen again afterwards.
                target.value = ''
              }}
            />
          </>
        )
      }
    >
      <div className={styles.screen}>
        <Split
          list={
            <>
              <Filters fields={fields} search="text" />
              <Folders prefix={prefix} />
              <DataTable
                label="Files"
                columns={columns}
                rows={files}
                idOf={({ id }) => id}
                linkOf={({ id }) => ({ to: pathTo('files', id), search: { passage: undefined } })}
                currentId={item}
                prefetch={prefetch}
                query={query}
                {...(mayWrite && { selectionActions: selected })}
                empty={
                  isFiltered || prefix !== '' ? (
                    <Empty
                      action={
                        <Button
                          onClick={() =>
                            change({
                              text: undefined,
                              status: undefined,
                              tags: undefined,
                              prefix: undefined,
                            })
                          }
                        >
                          Show all files
                        </Button>
                      }
                    >
                      No file matches.
                    </Empty>
                  ) : mayWrite ? (
                    <NoFiles choose={choose} />
                  ) : (
                    <Empty>This bot has no files yet.</Empty>
                  )
                }
              />
              <UploadList />
            </>
          }
          detail={item === undefined ? undefined : <FileDetail key={item} id={item} />}
        />
        {isAbove && mayWrite && <div className={uploadStyles.drop}>Drop to upload</div>}
      </div>
      {chosen.length > 0 && (
        <UploadDialog chosen={chosen} prefix={prefix} onClose={() => setChosen([])} />
      )}
    </Page>
  )
}

const ignore = () => {}

const selected = (ids: readonly string[], clear: () => void) => (
  <SelectionActions ids={ids} clear={clear} />
)

/** The page of a bot without files. */
function NoFiles({ choose }: { choose: () => void }) {
  const { botId = '' } = useScope()
  return (
    <Empty
      action={
        <Button icon={<Upload size={14} />} onClick={choose}>
          Upload files
        </Button>
      }
      calls={[
        {
          name: 'Command',
          text: botstead(
            ['files', 'sync', './handbook', '--prefix', 'handbook/', '--index'],
            botId,
          ),
        },
        {
          name: 'curl',
          text: curlOf({
            method: 'PUT',
            path: '/v1/files',
            botId,
            body: { key: 'handbook/travel.txt', size: 31, index: true },
          }),
        },
        {
          name: 'curl for the content, with the uploadUrl of that response',
          text: curlOfContent('travel.txt'),
        },
        {
          name: 'Client',
          text: `await client.uploadFile({ key: 'handbook/travel.txt', content, index: true })`,
        },
      ]}
    >
      This bot has no files yet. Drop some here: search finds what is in them.
    </Empty>
  )
}
