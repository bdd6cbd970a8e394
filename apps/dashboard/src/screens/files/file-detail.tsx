import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAddressSearch, usePathTo } from '../../api/address.js'
import { useMay } from '../../api/role.js'
import { Button } from '../../ui/button.js'
import { Id } from '../../ui/copy.js'
import { formatBytes, formatNumber } from '../../ui/numbers.js'
import { Detail, Facts } from '../../ui/page.js'
import { Unread } from '../../ui/states.js'
import { Tabs } from '../../ui/tabs.js'
import { describeTags } from '../../ui/tags.js'
import { Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { contentUrl } from './content.js'
import { FileSettings } from './file-settings.js'
import styles from './files.module.css'
import { IndexingReport, IndexingReportLink } from './indexing-report.js'
import { partsOf } from './keys.js'
import { Passages } from './passages.js'
import { Preview } from './preview.js'
import { type File, useFile, useFileActions } from './queries.js'
import { ReplaceContent } from './replace-content.js'
import { FileStatus, fileStatuses } from './statuses.js'

const readTabs = [
  { id: 'content', label: 'Content' },
  { id: 'passages', label: 'Passages' },
  { id: 'indexing-report', label: 'Not read' },
  { id: 'details', label: 'Details' },
]
const tabs = [...readTabs, { id: 'settings', label: 'Settings' }]

/** An open file: its content, its passages, its indexing report and its description. */
export function FileDetail({ id }: { id: string }) {
  const pathTo = usePathTo()
  const mayWrite = useMay()('files:write')
  const [{ tab = 'content' }] = useAddressSearch()
  const { data, error, refetch } = useFile(id)
  const file = data?.file
  return (
    <Detail
      title={file?.key ?? id}
      back={pathTo('files')}
      actions={file && <Actions file={file} />}
    >
      {file !== undefined && <Standing file={file} />}
      <Tabs tabs={mayWrite ? tabs : readTabs} current={tab} />
      {file === undefined ? (
        <Unread error={error} refetch={refetch} />
      ) : tab === 'passages' ? (
        <Passages file={file} />
      ) : tab === 'indexing-report' ? (
        <IndexingReport file={file} />
      ) : tab === 'details' ? (
        <Details file={file} />
      ) : tab === 'settings' && mayWrite ? (
        <FileSettings key={file.id} file={file} />
      ) : (
        <Preview file={file} />
      )}
    </Detail>
  )
}

/** The status with its reason, and advice. */
function Standing({ file }: { file: File }) {
  const mayWrite = useMay()('files:write')
  const { kind, advice } = fileStatuses[file.status]
  const { indexingProgress: progress, failedStatusReason } = file
  return (
    <div className={`${styles.standing} ${kind === 'attention' ? styles.isFailed : ''}`}>
      <FileStatus file={file} />
      {failedStatusReason !== undefined && <p>{failedStatusReason}</p>}
      {progress !== undefined && (
        <p>
          {[
            progress.pages !== undefined && `${formatNumber(progress.pages)} pages read`,
            progress.passages !== undefined &&
              `${formatNumber(progress.passages)} of ${formatNumber(progress.passagesTotal ?? 0)} passages written`,
            progress.attempt > 1 && `attempt ${progress.attempt}`,
          ]
            .filter(Boolean)
            .join(', ')}
        </p>
      )}
      <IndexingReportLink file={file} />
      {mayWrite && file.status === 'indexing_failed' && (file.indexingOmissions ?? 0) > 0 && (
        <IndexAnyway file={file} />
      )}
      {kind !== 'done' && <p className="muted">{advice}</p>}
    </div>
  )
}

/** Indexes the legible part of a document, most of which could not be read. */
function IndexAnyway({ file }: { file: File }) {
  const { reindex } = useFileActions()
  const [isBusy, setBusy] = useState(false)
  return (
    <Button
      isBusy={isBusy}
      title="Indexes the document although most of it cannot be read"
      onClick={() => {
        setBusy(true)
        reindex([file.id], { indexing: { configuration: { parsing: { allowPartial: true } } } })
          .then(() => note('What can be read will be indexed.'), noteFailure)
          .finally(() => setBusy(false))
      }}
    >
      Index what can be read
    </Button>
  )
}

function Actions({ file }: { file: File }) {
  const mayWrite = useMay()('files:write')
  const pathTo = usePathTo()
  const { reindex } = useFileActions()
  const [isBusy, setBusy] = useState(false)
  const isIndexed = file.status.startsWith('indexing')
  return (
    <>
      {isIndexed && (
        <Link to={pathTo('search')} search={{ in: file.id }} className={styles.action ?? ''}>
          Search in here
        </Link>
      )}
      {file.sha256 !== undefined && (
        <a href={contentUrl(file)} download={partsOf(file.key).name} className={styles.action}>
          Download
        </a>
      )}
      {mayWrite && <ReplaceContent file={file} />}
      {mayWrite && file.sha256 !== undefined && (
        <Button
          isBusy={isBusy}
          disabled={file.status === 'indexing_pending'}
          title="Search finds the previous passages until the new ones are written"
          onClick={() => {
            setBusy(true)
            reindex([file.id])
              .then(() => note('The file will be indexed.'), noteFailure)
              .finally(() => setBusy(false))
          }}
        >
          {isIndexed ? 'Index again' : 'Index'}
        </Button>
      )}
    </>
  )
}

function Details({ file }: { file: File }) {
  const owner = file.owner.alias ?? file.owner.name ?? file.owner.id
  return (
    <Facts
      facts={[
        ['Id', <Id key="id" id={file.id} what="id of the file" />],
        ['Key', <Id key="key" id={file.key} what="key of the file" />],
        ['Type', <code key="type">{file.contentType}</code>],
        ['Size', file.size === null ? 'no content yet' : formatBytes(file.size)],
        [
          'SHA-256',
          file.sha256 === undefined ? (
            'no content yet'
          ) : (
            <Id key="hash" id={file.sha256} what="SHA-256" />
          ),
        ],
        ['Owner', `${file.owner.type}${owner === undefined ? '' : ` ${owner}`}`],
        ['Created', <Time key="created" at={file.createdAt} />],
        ['Changed', <Time key="updated" at={file.updatedAt} />],
        [
          'Expires',
          file.expiresAt === undefined ? 'never' : <Time key="expires" at={file.expiresAt} />,
        ],
        ['Tags', describeTags(file.tags) || 'none'],
        ['Metadata', <pre key="metadata">{JSON.stringify(file.metadata, undefined, 2)}</pre>],
      ]}
    />
  )
}
