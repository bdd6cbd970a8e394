import { useTestS3 } from '../../../test/s3/server.js'
import { testBlobStore } from './conformance.js'
import { openS3BlobStore } from './s3.js'
import { parseS3Address } from './s3-address.js'

const s3 = useTestS3()

testBlobStore('S3', () => openS3BlobStore(parseS3Address(s3().url(), {})))
