import { describe, expect, it } from 'vitest'
import { parseS3Address } from './s3-address.js'

const environment = { accessKeyId: 'AKIA', secretAccessKey: 'secret' }

describe('the address of an object store', () => {
  it('of Amazon needs no more than a bucket and a region', () => {
    expect(parseS3Address('s3://contents?region=eu-central-1', environment)).toEqual({
      endpoint: 'https://s3.eu-central-1.amazonaws.com',
      region: 'eu-central-1',
      bucket: 'contents',
      prefix: '',
      pathStyle: false,
      accessKeyId: 'AKIA',
      secretAccessKey: 'secret',
      sessionToken: undefined,
    })
  })

  it('takes the region and temporary credentials of the environment', () => {
    const given = { ...environment, sessionToken: 'token', region: 'eu-west-3' }
    expect(parseS3Address('s3://contents', given)).toMatchObject({
      endpoint: 'https://s3.eu-west-3.amazonaws.com',
      sessionToken: 'token',
    })
  })

  it('of another service has an endpoint, and the bucket in the path', () => {
    const endpoint = encodeURIComponent('http://127.0.0.1:9000/')
    expect(
      parseS3Address(`s3://us%3Aer:p%2Fa%40ss@contents/bots/live/?endpoint=${endpoint}`, {}),
    ).toMatchObject({
      endpoint: 'http://127.0.0.1:9000',
      prefix: 'bots/live/',
      pathStyle: true,
      accessKeyId: 'us:er',
      secretAccessKey: 'p/a@ss',
    })
  })

  it('can name itself where the bucket stands', () => {
    const address = 's3://contents?endpoint=https://storage.example.com&path_style=false'
    expect(parseS3Address(address, environment).pathStyle).toBe(false)
    expect(parseS3Address('s3://a.b.c', environment).pathStyle).toBe(true)
  })

  it.each([
    ['https://contents', 'must begin with s3://'],
    ['s3://', 'name of a bucket'],
    ['s3://Contents', 'name of a bucket'],
    ['s3://c', 'name of a bucket'],
    ['s3://contents/a/../b%2e', 'prefix'],
    ['s3://contents/a//b', 'prefix'],
    ['s3://contents/käse', 'prefix'],
    ['s3://contents?endpont=https://x', 'parameter endpont, but only endpoint, region, path_style'],
    ['s3://contents?endpoint=storage', 'an endpoint such as https://'],
    ['s3://contents?endpoint=https://x/path', 'an endpoint such as https://'],
    ['s3://contents?region=', 'region'],
    ['s3://contents?path_style=yes', 'true or false as path_style'],
    ['s3://contents?timeout=0', 'timeout from 1 to 600 seconds'],
    ['s3://contents?timeout=601', 'timeout from 1 to 600 seconds'],
    ['s3://user@contents', 'both user and password'],
    ['s3://user:%ZZ@contents', 'both user and password'],
  ])('%s is refused', (address, rule) => {
    expect(() => parseS3Address(address, environment)).toThrow(rule)
  })

  it('without credentials is refused', () => {
    expect(() => parseS3Address('s3://contents', {})).toThrow('set AWS_ACCESS_KEY_ID and')
  })
})
