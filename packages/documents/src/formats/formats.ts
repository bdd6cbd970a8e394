import type { Extractor } from './extractor.js'

/** A family of files that one reader understands. */
export interface Format {
  name: string
  contentTypes: readonly string[]
  /** With the dot, lower case. */
  extensions: readonly string[]
  /** What the author of a file without text may do, where it is not only to write some. */
  adviceWhenEmpty?: string
  /** Loads the reader, so that a worker holds only the parsers it has needed. */
  load(): Promise<Extractor>
}

const OFFICE = 'application/vnd.openxmlformats-officedocument'

/** Every format that can be indexed. A new format is one module and one entry here. */
export const FORMATS: readonly Format[] = [
  {
    name: 'Markdown',
    contentTypes: ['text/markdown', 'text/x-markdown', 'text/x-web-markdown'],
    extensions: ['.md', '.markdown', '.mdown', '.mkd', '.mkdn', '.mdwn'],
    load: () => import('./markdown.js'),
  },
  {
    name: 'MDX',
    contentTypes: ['text/mdx', 'application/mdx'],
    extensions: ['.mdx'],
    load: () => import('./mdx.js'),
  },
  {
    name: 'HTML',
    contentTypes: ['text/html', 'application/xhtml+xml'],
    extensions: ['.html', '.htm', '.xhtml'],
    adviceWhenEmpty: 'A page that scripts build must be saved as the browser shows it.',
    load: () => import('./html.js'),
  },
  {
    name: 'PDF',
    contentTypes: ['application/pdf', 'application/x-pdf'],
    extensions: ['.pdf'],
    load: () => import('./pdf.js'),
  },
  {
    name: 'Word (.docx)',
    contentTypes: [
      `${OFFICE}.wordprocessingml.document`,
      `${OFFICE}.wordprocessingml.template`,
      'application/vnd.ms-word.document.macroenabled.12',
    ],
    extensions: ['.docx', '.docm', '.dotx'],
    load: () => import('./docx.js'),
  },
  {
    name: 'PowerPoint (.pptx)',
    contentTypes: [
      `${OFFICE}.presentationml.presentation`,
      `${OFFICE}.presentationml.slideshow`,
      'application/vnd.ms-powerpoint.presentation.macroenabled.12',
    ],
    extensions: ['.pptx', '.pptm', '.ppsx'],
    load: () => import('./pptx.js'),
  },
  {
    name: 'Excel (.xlsx)',
    contentTypes: [
      `${OFFICE}.spreadsheetml.sheet`,
      'application/vnd.ms-excel.sheet.macroenabled.12',
    ],
    extensions: ['.xlsx', '.xlsm'],
    load: () => import('./xlsx.js'),
  },
  {
    name: 'OpenDocument text (.odt)',
    contentTypes: ['application/vnd.oasis.opendocument.text'],
    extensions: ['.odt', '.ott'],
    load: () => import('./odt.js'),
  },
  {
    name: 'EPUB',
    contentTypes: ['application/epub+zip'],
    extensions: ['.epub'],
    load: () => import('./epub.js'),
  },
  {
    name: 'e-mail (.eml)',
    contentTypes: ['message/rfc822'],
    extensions: ['.eml'],
    load: () => import('./eml.js'),
  },
  {
    name: 'CSV and TSV',
    contentTypes: ['text/csv', 'text/tab-separated-values', 'application/csv'],
    extensions: ['.csv', '.tsv', '.tab'],
    load: () => import('./csv.js'),
  },
  {
    name: 'JSON and YAML',
    contentTypes: [
      ...['application/json', 'text/json', 'application/x-ndjson', 'application/jsonl'],
      ...['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'],
    ],
    extensions: ['.json', '.jsonl', '.ndjson', '.yaml', '.yml'],
    load: () => import('./data.js'),
  },
  {
    name: 'plain text',
    contentTypes: ['text/plain'],
    extensions: ['.txt', '.text', '.log'],
    load: () => import('./plain-text.js'),
  },
]
