import net from 'node:net'

// Guards compare addresses in the same realm as the code, which can replace the methods of strings, lists and sets, and
// those of the lists of Node. So nothing here looks a method up when it is called: bytes are read and
// compared one by one, without iterators.

// As they are before the code can replace them.
const { isIP } = net
const { apply } = Reflect
const { charCodeAt } = String.prototype
const Bytes = Uint8Array

/** An address as 16 bytes; of IPv4, the bytes of the IPv6 address that stands for it. */
type Address = Uint8Array

/** Addresses that begin with the same bits. */
export interface Network {
  address: Address
  bits: number
}

const [dot, colon, percent, none] = [46, 58, 37, -1]

/** Reads networks such as `10.0.0.0/8`, and addresses. */
export function readNetworks(texts: readonly string[]): Network[] {
  return texts.map((text) => {
    const [start = '', bits] = text.split('/')
    const address = readAddress(start)
    if (address === undefined) throw new Error(`${text} is not a network`)
    const before = isIP(start) === 4 ? 96 : 0
    return { address, bits: bits === undefined ? 128 : before + Number(bits) }
  })
}

/** Reads an IP address. @returns undefined if the text is none */
export function readAddress(text: string): Address | undefined {
  const version = isIP(text)
  if (version === 0) return undefined
  const bytes = new Bytes(16)
  const isV4 = version === 4
  if (isV4) bytes[10] = bytes[11] = 255
  let at = isV4 ? 12 : 0
  let isDotted = isV4
  let gap = none
  let hexadecimal = 0
  let decimal = 0
  let digits = 0
  for (let index = 0; index <= text.length; index++) {
    const code = codeAt(text, index)
    const digit = digitOf(code)
    if (digit !== none) {
      hexadecimal = hexadecimal * 16 + digit
      decimal = decimal * 10 + digit
      digits += 1
      continue
    }
    if (code === dot) isDotted = true
    if (digits > 0) {
      if (!isDotted) bytes[at++] = hexadecimal >> 8
      bytes[at++] = isDotted ? decimal : hexadecimal & 255
      hexadecimal = decimal = digits = 0
    }
    // The rest names the network interface.
    if (code === percent) break
    if (code === colon && codeAt(text, index + 1) === colon) gap = at
  }
  if (gap !== none) {
    const moved = at - gap
    for (let back = 1; back <= moved; back++) {
      bytes[16 - back] = bytes[at - back] ?? 0
      if (at < 16) bytes[at - back] = 0
    }
  }
  return bytes
}

/** Whether an address is in one of the networks. */
export function isInSome(address: Address, networks: readonly Network[]): boolean {
  for (let index = 0; index < networks.length; index++) {
    const network = networks[index]
    if (network !== undefined && isIn(address, network)) return true
  }
  return false
}

function isIn(address: Address, { address: start, bits }: Network): boolean {
  for (let index = 0; index * 8 < bits; index++) {
    const difference = (address[index] ?? 0) ^ (start[index] ?? 0)
    const compared = bits - index * 8
    if (difference >> (compared < 8 ? 8 - compared : 0) !== 0) return false
  }
  return true
}

/** NaN after the end. */
function codeAt(text: string, index: number): number {
  return apply(charCodeAt, text, [index])
}

function digitOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  // Lower case letters differ from upper case ones in one bit.
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : none
}
