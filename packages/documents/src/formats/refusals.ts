/** Formats that people upload and that cannot be read, with what helps. */
const REFUSALS: readonly { types: RegExp; extensions: readonly string[]; advice: string }[] = [
  {
    types: /^application\/msword$/,
    extensions: ['.doc', '.dot'],
    advice: 'This is Word as before 2007: save the document as .docx and upload it again.',
  },
  {
    types: /^application\/vnd\.ms-excel$/,
    extensions: ['.xls', '.xlsb'],
    advice: 'Save the workbook as .xlsx and upload it again.',
  },
  {
    types: /^application\/vnd\.ms-powerpoint$/,
    extensions: ['.ppt', '.pps'],
    advice: 'This is PowerPoint as before 2007: save the slides as .pptx and upload them again.',
  },
  {
    types: /^(?:application|text)\/(?:rtf|richtext)$/,
    extensions: ['.rtf'],
    advice: 'Save the document as .docx or PDF and upload it again.',
  },
  {
    types: /opendocument\.(?:spreadsheet|presentation|graphics)/,
    extensions: ['.ods', '.odp', '.odg'],
    advice: 'Save a table as .xlsx or .csv, slides as .pptx or PDF, and upload it again.',
  },
  {
    types: /^application\/vnd\.apple\./,
    extensions: ['.pages', '.numbers', '.key'],
    advice: 'Export the document as PDF, .docx, .xlsx or .pptx and upload that.',
  },
  {
    types: /^application\/vnd\.ms-outlook$/,
    extensions: ['.msg', '.pst', '.mbox'],
    advice: 'Save each message as .eml and upload it again.',
  },
  {
    types: /mobipocket|^application\/vnd\.amazon/,
    extensions: ['.mobi', '.azw', '.azw3'],
    advice: 'Convert the book to EPUB and upload it again.',
  },
  {
    types: /^image\//,
    extensions: [
      '.png',
      '.jpg',
      '.jpeg',
      '.gif',
      '.webp',
      '.tif',
      '.tiff',
      '.bmp',
      '.heic',
      '.svg',
    ],
    advice:
      'A picture has no text to index: run text recognition (OCR) and upload the result as PDF or text.',
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
  {
    types: /^(?:application|text)\/xml$/,
    extensions: ['.xml'],
    advice: 'Convert the data to JSON or CSV, the document to HTML, and upload it again.',
  },
]

/** What the author of a file of a refused format can do, if there is more to say than to convert it. */
export function refusalOf(type: string, extension: string): string | undefined {
  const refusal = REFUSALS.find(
    (each) => each.extensions.includes(extension) || each.types.test(type),
  )
  return refusal?.advice
}
