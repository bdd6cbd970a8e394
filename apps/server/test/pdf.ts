/** A PDF of objects, the first of which is its catalogue. */
export function pdfOf(objects: (string | Buffer)[]): Buffer {
  const parts = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let length = parts[0]?.length ?? 0
  const add = (part: string | Buffer) => {
    parts.push(Buffer.from(part))
    length += Buffer.byteLength(part)
  }
  for (const [at, object] of objects.entries()) {
    offsets.push(length)
    add(`${at + 1} 0 obj\n`)
    add(object)
    add('\nendobj\n')
  }
  const start = length
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`)
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries.join('')}`)
  add(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`)
  return Buffer.concat(parts)
}
