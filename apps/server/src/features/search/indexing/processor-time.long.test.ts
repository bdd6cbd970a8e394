import { expect, test } from 'vitest'
import { pdfOf } from '../../../../test/pdf.js'
import { createIngestPool, ingest } from './ingest.js'

/** A PDF of pages, each with all of these objects, which begin with the number 5. */
function pdfOfPages(count: number, objects: readonly string[], resources: string): Buffer {
  const first = 5 + objects.length
  const kids = Array.from({ length: count }, (_, at) => `${first + at} 0 R`)
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${count} /Kids [${kids.join(' ')}] >>`,
    stream('BT /F 12 Tf 50 700 Td (A line of text) Tj ET /X Do'),
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 5 0 R >>',
    ...objects,
    ...kids.map(
      () =>
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 3 0 R /Resources << /Font << /F 4 0 R >> ${resources} >> >>`,
    ),
  ])
}

function stream(text: string, dictionary = ''): string {
  return `<< /Length ${text.length} ${dictionary} >>\nstream\n${text}\nendstream`
}

/** A map of sixteen million characters, in one line. */
const hugeMap = stream(`/CIDInit /ProcSet findresource begin begincmap
1 begincodespacerange <0000> <FFFF> endcodespacerange
1 beginbfrange <00000000> <00FFFFFE> <0041> endbfrange endcmap`)

/** Drawings of which each draws the next one twice. */
function doubling(levels: number): string[] {
  return Array.from({ length: levels }, (_, at) => {
    const next = `/Resources << /XObject << /X ${7 + at} 0 R >> >>`
    const dictionary = `/Type /XObject /Subtype /Form /BBox [0 0 600 800] ${next}`
    return stream(at === levels - 1 ? '0 0 m' : '/X Do /X Do', dictionary)
  })
}

test.each([
  ['with a huge map of characters', pdfOfPages(1, [hugeMap], ''), 5000],
  [
    'with many pages whose drawings multiply',
    pdfOfPages(3000, ['null', ...doubling(8)], '/XObject << /X 6 0 R >>'),
    10_000,
  ],
])(
  'a small PDF %s ends after the processor time of its size',
  async (_, bytes, milliseconds) => {
    // A time limit that does not end it before, however busy the machine is.
    await using pool = createIngestPool({ onError: () => {}, workers: 1, timeLimitMs: 3_600_000 })
    const limits = { ...pool.limits, timeLimitMs: 10_000 }
    const request = { content: { bytes }, contentType: 'application/pdf', key: 'a.pdf' }
    await expect(ingest({ ...pool, limits }, request)).rejects.toMatchObject({
      failure: 'too_slow',
      message: expect.stringContaining(`more than ${milliseconds} ms of processor time`),
    })
  },
  600_000,
)
