// Messages between the server and a worker, over pipes: frames of one byte for the kind, four for the length, and the
// content. Node's own message channel ends the receiving process when it receives malformed data.

const kinds = ['task', 'output', 'outputBytes', 'error', 'progress', 'piece', 'spent'] as const
/** `task` is for the worker, serialised by V8; all others are for the server, as JSON. */
export type FrameKind = (typeof kinds)[number]

const headBytes = 5

/** The head of a frame, which its content follows. */
export function frameHead(kind: FrameKind, contentBytes: number): Buffer {
  const head = Buffer.alloc(headBytes)
  head[0] = kinds.indexOf(kind)
  head.writeUInt32BE(contentBytes, 1)
  return head
}

/**
 * Makes a function that takes pieces of a stream as they come, and throws at what is no frame.
 * @param maxBytes returns the maximum size of a content in bytes
 */
export function createFrameReader(
  maxBytes: () => number,
  onFrame: (kind: FrameKind, content: Buffer) => void,
): (piece: Buffer) => void {
  let pieces: Buffer[] = []
  let size = 0
  /** Bytes before which there is nothing to do. */
  let wanted = headBytes

  return (piece) => {
    pieces.push(piece)
    size += piece.length
    while (size >= wanted) {
      // One piece may have thousands of frames, and is copied for none of them.
      const [first = piece, ...more] = pieces
      const all = more.length === 0 ? first : Buffer.concat(pieces)
      const kind = kinds[all.readUInt8(0)]
      const length = all.readUInt32BE(1)
      if (kind === undefined) throw new Error('it is no frame')
      if (length > maxBytes()) throw new Error(`it has ${length} bytes, more than ${maxBytes()}`)
      const end = headBytes + length
      const isComplete = size >= end
      pieces = [isComplete ? all.subarray(end) : all]
      size -= isComplete ? end : 0
      wanted = isComplete ? headBytes : end
      if (isComplete) onFrame(kind, all.subarray(headBytes, end))
    }
  }
}
