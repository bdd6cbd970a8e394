import { describe, expect, it } from 'vitest'
import { signatureOf } from './signature.js'

// The examples that Amazon publishes with the specification of signature version 4 for S3.
const example = {
  secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  scope: ['20130524', 'us-east-1', 's3', 'aws4_request'],
  date: '20130524T000000Z',
}
const host = 'examplebucket.s3.amazonaws.com'

describe('the signatures that the store of the tests expects', () => {
  it('are those of the published example of a signed header', () => {
    const headers = {
      host,
      range: 'bytes=0-9',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'x-amz-date': example.date,
    }
    const signedHeaders = 'host;range;x-amz-content-sha256;x-amz-date'
    const request = { method: 'GET', url: '/test.txt', headers }
    expect(signatureOf(request, { ...example, signedHeaders, presigned: false })).toBe(
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    )
  })

  it('are those of the published example of a presigned address', () => {
    const credential = 'AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request'
    const url = `/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${credential}&X-Amz-Date=${example.date}&X-Amz-Expires=86400&X-Amz-SignedHeaders=host`
    const request = { method: 'GET', url, headers: { host } }
    expect(signatureOf(request, { ...example, signedHeaders: 'host', presigned: true })).toBe(
      'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    )
  })
})
