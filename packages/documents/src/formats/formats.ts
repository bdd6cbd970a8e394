import type { Extractor } from '../document/extraction.js'

/** A family of files that one extractor reads. */
export interface Format {
  name: string
  contentTypes: readonly string[]
  /** With the dot, lower case. */
  extensions: readonly string[]
  /** Advice for the author of a file without text, if there is any besides adding some. */
  adviceWhenEmpty?: string
  /** Loads the extractor on demand, so that a process holds only the parsers that it has needed. */
  load(): Promise<Extractor>
}

const officeType = 'application/vnd.openxmlformats-officedocument'

/** Extensions of programs, scripts, queries, styles and patches, whose lines stay as they are. */
const sourceExtensions: readonly string[] = (
  '.ts .mts .cts .tsx .js .mjs .cjs .jsx .vue .svelte .py .pyi .rb .php .pl .pm .lua .tcl .r .jl .go .rs .java .kt ' +
  '.kts .scala .groovy .gradle .swift .m .mm .c .h .cc .cpp .cxx .hh .hpp .hxx .ino .cs .fs .vb .bas .vbs .pas .dpr ' +
  '.f .f90 .for .cob .cbl .ada .adb .d .zig .nim .dart .ex .exs .erl .hrl .elm .hs .ml .mli .clj .cljs .lisp .el .scm ' +
  '.sql .graphql .proto .thrift .sh .bash .zsh .fish .ksh .bat .cmd .ps1 .psm1 .awk .sed .css .scss .sass .less .tf ' +
  '.hcl .nix .asm .s .v .sv .vhd .vhdl .cmake .mk .diff .patch .sol .abap .apex .json5'
).split(' ')

/** Every format that can be indexed. A new format is one module and one entry in this list. */
export const supportedFormats: readonly Format[] = [
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
    contentTypes: ['text/html', 'application/xhtml+xml', 'image/svg+xml'],
    extensions: ['.html', '.htm', '.xhtml', '.svg'],
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
      `${officeType}.wordprocessingml.document`,
      `${officeType}.wordprocessingml.template`,
      'application/vnd.ms-word.document.macroenabled.12',
    ],
    extensions: ['.docx', '.docm', '.dotx'],
    load: () => import('./docx.js'),
  },
  {
    name: 'PowerPoint (.pptx)',
    contentTypes: [
      `${officeType}.presentationml.presentation`,
      `${officeType}.presentationml.slideshow`,
      'application/vnd.ms-powerpoint.presentation.macroenabled.12',
    ],
    extensions: ['.pptx', '.pptm', '.ppsx'],
    load: () => import('./pptx.js'),
  },
  {
    name: 'Excel (.xlsx)',
    contentTypes: [
      `${officeType}.spreadsheetml.sheet`,
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
    name: 'OpenDocument slides (.odp)',
    contentTypes: ['application/vnd.oasis.opendocument.presentation'],
    extensions: ['.odp', '.otp'],
    load: () => import('./odp.js'),
  },
  {
    name: 'OpenDocument spreadsheet (.ods)',
    contentTypes: ['application/vnd.oasis.opendocument.spreadsheet'],
    extensions: ['.ods', '.ots'],
    load: () => import('./ods.js'),
  },
  {
    name: 'EPUB',
    contentTypes: ['application/epub+zip'],
    extensions: ['.epub'],
    load: () => import('./epub.js'),
  },
  {
    name: 'e-mail (.eml)',
    contentTypes: ['message/rfc822', 'application/mbox', 'multipart/related'],
    extensions: ['.eml', '.mbox', '.mht', '.mhtml'],
    load: () => import('./eml.js'),
  },
  {
    name: 'calendar (.ics)',
    contentTypes: ['text/calendar'],
    extensions: ['.ics'],
    load: () => import('./calendar.js'),
  },
  {
    name: 'address book (.vcf, .ldif)',
    contentTypes: ['text/vcard', 'text/x-vcard', 'text/directory'],
    extensions: ['.vcf', '.vcard', '.ldif'],
    load: () => import('./address-book.js'),
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
      'application/json',
      'text/json',
      'application/x-ndjson',
      'application/jsonl',
      'application/yaml',
      'application/x-yaml',
      'text/yaml',
      'text/x-yaml',
    ],
    extensions: ['.json', '.jsonc', '.jsonl', '.ndjson', '.yaml', '.yml'],
    load: () => import('./data.js'),
  },
  {
    name: 'XML',
    contentTypes: ['application/xml', 'text/xml'],
    extensions: (
      '.xml .xsd .xsl .xslt .wsdl .rss .atom .opml .xlf .xliff .tmx .ttml .fb2 .gpx .kml .plist .resx .rdf .owl ' +
      '.webloc .drawio .dita .ditamap .tei .dbk .nxml .musicxml'
    ).split(' '),
    load: () => import('./xml-data.js'),
  },
  {
    name: 'notebook (.ipynb)',
    contentTypes: ['application/x-ipynb+json'],
    extensions: ['.ipynb'],
    load: () => import('./notebook.js'),
  },
  {
    name: 'subtitles',
    contentTypes: ['text/vtt', 'application/x-subrip', 'text/srt'],
    extensions: ['.srt', '.vtt', '.sbv', '.ass', '.ssa'],
    load: () => import('./subtitles.js'),
  },
  {
    name: 'Org, reStructuredText, AsciiDoc and TeX',
    contentTypes: ['text/org', 'text/x-rst', 'text/asciidoc', 'text/x-tex', 'application/x-tex'],
    extensions: ['.org', '.rst', '.rest', '.adoc', '.asciidoc', '.asc', '.tex', '.latex', '.ltx'],
    load: () => import('./light-markup.js'),
  },
  {
    name: 'settings (.ini, .toml)',
    contentTypes: ['application/toml'],
    extensions: [
      '.ini',
      '.toml',
      '.cfg',
      '.conf',
      '.properties',
      '.env',
      '.desktop',
      '.reg',
      '.url',
    ],
    load: () => import('./settings-file.js'),
  },
  {
    name: 'source code',
    contentTypes: [
      'application/javascript',
      'text/javascript',
      'application/x-sh',
      'application/sql',
    ],
    extensions: sourceExtensions,
    load: () => import('./source-code.js'),
  },
  {
    name: 'plain text',
    contentTypes: ['text/plain'],
    extensions: ['.txt', '.text', '.log'],
    load: () => import('./plain-text.js'),
  },
]

/** Formats that people upload although they cannot be indexed, with advice for the author. */
const refusedFormats: readonly { types: RegExp; extensions: readonly string[]; advice: string }[] =
  [
    {
      types: /^application\/msword$/,
      extensions: ['.doc'],
      advice:
        'This is the Word format from before 2007: save the document as .docx and upload it again.',
    },
    {
      types: /^application\/vnd\.ms-excel$/,
      extensions: ['.xls', '.xlsb'],
      advice: 'Save the workbook as .xlsx and upload it again.',
    },
    {
      types: /^application\/vnd\.ms-powerpoint$/,
      extensions: ['.ppt', '.pps'],
      advice:
        'This is the PowerPoint format from before 2007: save the slides as .pptx and upload them again.',
    },
    {
      types: /^(?:application|text)\/(?:rtf|richtext)$/,
      extensions: ['.rtf'],
      advice: 'Save the document as .docx or PDF and upload it again.',
    },
    {
      types: /opendocument\.graphics/,
      extensions: ['.odg'],
      advice: 'Save the drawing as PDF and upload it again.',
    },
    {
      types: /opendocument\.\w+-flat-xml/,
      extensions: ['.fodt', '.fods', '.fodp', '.fodg'],
      advice: 'Save the document as .odt, .ods, .odp or PDF and upload it again.',
    },
    {
      types: /^application\/vnd\.apple\./,
      extensions: ['.pages', '.numbers'],
      advice: 'Export the document as PDF, .docx, .xlsx or .pptx and upload that.',
    },
    {
      types: /^application\/vnd\.ms-outlook$/,
      extensions: ['.msg', '.pst'],
      advice: 'Save each message as .eml and upload it again.',
    },
    {
      types: /mobipocket|^application\/vnd\.amazon/,
      extensions: ['.mobi', '.azw', '.azw3'],
      advice: 'Convert the book to EPUB and upload it again.',
    },
    {
      types: /^image\/(?!svg\+xml)/,
      extensions: ['.png', '.jpg', '.jpeg', '.gif', '.webp', '.tif', '.tiff', '.bmp', '.heic'],
      advice:
        'The text in pictures is not read: run text recognition (OCR) and upload the result as PDF or text.',
    },
    {
      types: /^(?:audio|video)\//,
      extensions: ['.mp3', '.wav', '.ogg', '.m4a', '.mp4', '.mov', '.avi', '.webm', '.mkv'],
      advice: 'Upload a transcript as text instead.',
    },
    {
      types: /^application\/(?:zip|gzip|x-tar|x-7z-compressed|x-rar-compressed|vnd\.rar)$/,
      extensions: ['.zip', '.gz', '.tgz', '.tar', '.7z', '.rar', '.bz2', '.xz'],
      advice: 'Unpack the archive and upload the documents in it one by one.',
    },
  ]

/** Advice for the author of a file of a refused format; undefined for all other formats. */
export function refusalAdvice(type: string, extension: string): string | undefined {
  const refusal = refusedFormats.find(
    (each) => each.extensions.includes(extension) || each.types.test(type),
  )
  return refusal?.advice
}

const headBytes = 4096

/** Folders by which Office documents differ; each document has exactly one of them. */
const officeFolders: readonly [string, string][] = [
  ['word/', `${officeType}.wordprocessingml.document`],
  ['ppt/', `${officeType}.presentationml.presentation`],
  ['xl/', `${officeType}.spreadsheetml.sheet`],
]

/** The media type of a document by its bytes. */
export function sniff(bytes: Uint8Array): string | undefined {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const head = content.subarray(0, headBytes).toString('latin1')
  // Some programs write a few bytes before the signature, and PDF readers look for it.
  if (head.slice(0, 1024).includes('%PDF-')) return 'application/pdf'
  if (!head.startsWith('PK\x03\x04')) return undefined
  const stated = /mimetype(application\/[\w.+-]+?)PK/.exec(head)?.[1]
  if (stated !== undefined) return stated
  // The directory at the end of the archive lists the names of all parts.
  const directory = content.subarray(Math.max(0, content.length - 65_536)).toString('latin1')
  return officeFolders.find(([folder]) => directory.includes(folder))?.[1]
}
