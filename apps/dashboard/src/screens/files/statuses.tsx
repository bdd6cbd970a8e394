import { Status, type StatusKind } from '../../ui/status.js'
import type { File } from './queries.js'

interface Description {
  kind: StatusKind
  label: string
  /** The meaning, and advice. */
  advice: string
}

/** The meanings of the statuses of files. */
export const fileStatuses: Readonly<Record<File['status'], Description>> = {
  upload_pending: {
    kind: 'waiting',
    label: 'Waiting for content',
    advice:
      'The file is described, but its content has not arrived. The program that described it can send it for 24 hours; “Upload” sends it from here.',
  },
  upload_failed: {
    kind: 'attention',
    label: 'Upload failed',
    advice: 'Send the content again by “Upload”. The content before, if any, is kept.',
  },
  upload_completed: {
    kind: 'off',
    label: 'Not searchable',
    advice: 'The content is stored, and search does not find it. “Index” makes it searchable.',
  },
  indexing_pending: {
    kind: 'working',
    label: 'Indexing',
    advice: 'The content is stored; search finds it once its passages are written.',
  },
  indexing_failed: {
    kind: 'attention',
    label: 'Indexing failed',
    advice:
      'The content is stored, and search does not find it. Fix what the reason says and send the content again by “Replace”; “Index again” helps if the cause has gone.',
  },
  indexing_completed: {
    kind: 'done',
    label: 'Searchable',
    advice: 'Search finds the content.',
  },
}

/** The status of a file, with the progress of its indexing. */
export function FileStatus({ file }: { file: File }) {
  const { kind, label } = fileStatuses[file.status]
  const percent = file.indexingProgress?.percent
  return <Status kind={kind}>{percent === undefined ? label : `${label} ${percent} %`}</Status>
}
