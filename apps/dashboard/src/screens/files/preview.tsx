import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { Button } from '../../ui/button.js'
import { useRemembered } from '../../ui/remembered.js'
import { Empty, ErrorPanel, Skeleton } from '../../ui/states.js'
import { contentUrl, kindOf, pdfMaximum, readBlob, readText } from './content.js'
import styles from './files.module.css'
import type { File } from './queries.js'

const MarkdownDocument = lazy(async () => ({
  default: (await import('./markdown.js')).MarkdownDocument,
}))
const PdfPages = lazy(async () => ({ default: (await import('./pdf/pdf.js')).Pdf }))

/** The content of a file, shown without running anything that is in it. */
export function Preview({ file }: { file: File }) {
  const kind = kindOf(file.contentType, file.key)
  if (file.sha256 === undefined) return <Empty>There is no content yet.</Empty>
  switch (kind) {
    case 'image':
      return (
        <div className={styles.media}>
          <img src={contentUrl(file)} alt={`Content of ${file.key}`} />
        </div>
      )
    case 'audio':
      return (
        <div className={styles.media}>
          {/* biome-ignore lint/a11y/useMediaCaption: files have none */}
          <audio controls src={contentUrl(file)} />
        </div>
      )
    case 'video':
      return (
        <div className={styles.media}>
          {/* biome-ignore lint/a11y/useMediaCaption: files have none */}
          <video controls src={contentUrl(file)} />
        </div>
      )
    case 'pdf':
      return (file.size ?? 0) > pdfMaximum ? (
        <NotShown file={file}>It is too large to be shown here.</NotShown>
      ) : (
        <Pdf key={file.sha256} file={file} />
      )
    case 'markdown':
    case 'text':
      return <Text file={file} isMarkdown={kind === 'markdown'} />
    default:
      return <NotShown file={file}>{`Browsers cannot show ${file.contentType}.`}</NotShown>
  }
}

function NotShown({ file, children }: { file: File; children: string }) {
  return (
    <Empty action={<a href={contentUrl(file)}>Download it</a>}>
      {children} Its passages show the text that search finds.
    </Empty>
  )
}

/** Drawn by the dashboard itself: the viewer of a browser would run the scripts of the document. */
function Pdf({ file }: { file: File }) {
  const [failure, setFailure] = useState<string>()
  const { data, error, refetch } = useQuery({
    queryKey: ['content', file.id, file.sha256, 'blob'],
    queryFn: ({ signal }) => readBlob(file, 'application/pdf', signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (failure !== undefined) {
    return <NotShown file={file}>{`This document cannot be shown. ${failure}`}</NotShown>
  }
  if (error !== null) return <ErrorPanel error={error} retry={() => void refetch()} />
  if (data === undefined) return <Skeleton />
  return (
    <Suspense fallback={<Skeleton />}>
      <PdfPages content={data} label={`Content of ${file.key}`} onFailure={setFailure} />
    </Suspense>
  )
}

function Text({ file, isMarkdown }: { file: File; isMarkdown: boolean }) {
  const [isSource, setSource] = useRemembered('source of markdown', false)
  const { data, error, refetch } = useQuery({
    queryKey: ['content', file.id, file.sha256, 'text'],
    queryFn: ({ signal }) => readText(file, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error !== null) return <ErrorPanel error={error} retry={() => void refetch()} />
  if (data === undefined) return <Skeleton />
  const content: ReactNode =
    isMarkdown && !isSource ? (
      <Suspense fallback={<Skeleton />}>
        <MarkdownDocument text={data.text} />
      </Suspense>
    ) : (
      <pre>{data.text}</pre>
    )
  return (
    <div className={styles.text}>
      {isMarkdown && (
        <div>
          <Button kind="quiet" aria-pressed={isSource} onClick={() => setSource(!isSource)}>
            Show the source
          </Button>
        </div>
      )}
      {data.text === '' ? <p className="muted">The content is empty.</p> : content}
      {data.isCut && (
        <p>
          This is the beginning. <a href={contentUrl(file)}>Download all of it</a>
        </p>
      )}
    </div>
  )
}
