import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { useRemembered } from '../../frame/remembered.js'
import { Button } from '../../ui/button.js'
import { Empty, ErrorPanel, Skeleton } from '../../ui/states.js'
import { contentUrl, kindOf, pdfMaximum, readBlob, readText } from './content.js'
import styles from './files.module.css'
import type { File } from './queries.js'

const Markdown = lazy(async () => ({ default: (await import('../../ui/markdown.js')).Markdown }))

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
        <Pdf file={file} />
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

/** The frame shows a copy that is known to be of this type: nothing else can be opened in it. */
function Pdf({ file }: { file: File }) {
  const [url, setUrl] = useState<string>()
  const { data, error, refetch } = useQuery({
    queryKey: ['content', file.id, file.sha256, 'blob'],
    queryFn: ({ signal }) => readBlob(file, 'application/pdf', signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  useEffect(() => {
    if (data === undefined) return
    const made = URL.createObjectURL(data)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [data])
  if (error !== null) return <ErrorPanel error={error} retry={() => void refetch()} />
  if (url === undefined) return <Skeleton />
  // As wide as the frame, without the small pictures of the pages beside it.
  const view = '#navpanes=0&view=FitH'
  return <iframe className={styles.pdf} src={url + view} title={`Content of ${file.key}`} />
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
        <Markdown text={data.text} />
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
