import { Readable } from 'node:stream'
import { openDiskBlobStore } from '../../src/platform/blobs/disk.js'

// Stores a content that never ends, to be killed meanwhile. Takes the folder and the key.
const [folder = '', key = ''] = process.argv.slice(2)
const store = await openDiskBlobStore(folder)
let left = 64
const content = new Readable({
  read() {
    if (left-- > 0) this.push(Buffer.alloc(65536))
  },
})
await store.put(key, content)
