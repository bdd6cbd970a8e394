import { allOperations } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'

describe('the reference', () => {
  const server = useServer()

  it('is where the bare address leads', async () => {
    const response = await server().fetch('/', { redirect: 'manual' })
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe('/docs')
  })

  it('is a page that also works where there is no https', async () => {
    const response = await server().fetch('/docs')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/html')
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain('default-src')
    expect(policy).not.toContain('upgrade-insecure-requests')
  })

  it('has every operation in its document', async () => {
    const response = await server().fetch('/openapi.json')
    const { paths }: { paths: Record<string, object> } = JSON.parse(await response.text())
    expect(Object.keys(paths).toSorted()).toEqual(
      [...new Set(allOperations.map(({ path }) => path))].toSorted(),
    )
  })
})
