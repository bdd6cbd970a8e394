import { crc32, deflateRawSync } from 'node:zlib'

/** Parts of an archive by name. */
export type ZipParts = Readonly<Record<string, string | Uint8Array>>

const localSignature = 0x04034b50
const centralSignature = 0x02014b50
const endSignature = 0x06054b50

/** A ZIP archive, always the same for the same parts. */
export function zip(parts: ZipParts): Buffer {
  const locals: Buffer[] = []
  const list: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(parts)) {
    const plain = Buffer.from(content)
    const packed = deflateRawSync(plain)
    const nameBytes = Buffer.from(name)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(localSignature, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt16LE(0x0800, 6)
    local.writeUInt16LE(8, 8)
    local.writeUInt32LE(crc32(plain), 14)
    local.writeUInt32LE(packed.length, 18)
    local.writeUInt32LE(plain.length, 22)
    local.writeUInt16LE(nameBytes.length, 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(centralSignature, 0)
    central.writeUInt16LE(20, 4)
    // Version to flags, method, time, checksum and sizes are the same in both headers.
    local.copy(central, 6, 4, 28)
    central.writeUInt16LE(nameBytes.length, 28)
    central.writeUInt32LE(offset, 42)
    locals.push(local, nameBytes, packed)
    list.push(central, nameBytes)
    offset += local.length + nameBytes.length + packed.length
  }
  const size = list.reduce((sum, part) => sum + part.length, 0)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(endSignature, 0)
  end.writeUInt16LE(locals.length / 3, 8)
  end.writeUInt16LE(locals.length / 3, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, ...list, end])
}
