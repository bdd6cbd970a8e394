import { expect } from 'vitest'
import type { Deviations, TestAuthenticator } from './authenticator.js'

/** The password of those who have one. */
export const password = 'seven green teapots'

/** A browser with its cookies, at the pages of one process. */
export class PasskeyBrowser {
  #cookies = new Map<string, string>()
  readonly #url: string
  readonly #headers: Record<string, string>

  /** @param headers of each request; with `origin`, if the server has another public address */
  constructor(url: string, headers: Record<string, string> = {}) {
    this.#url = url
    this.#headers = headers
  }

  /** The same browser, with the same cookies, at another process. */
  at(url: string): PasskeyBrowser {
    const other = new PasskeyBrowser(url, this.#headers)
    other.#cookies = this.#cookies
    return other
  }

  async call(path: string, body?: object, method = body === undefined ? 'GET' : 'POST') {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(`${this.#url}/v1/admin/${path}`, {
      method,
      headers: {
        origin: this.#url,
        'x-requested-with': 'test',
        ...(cookie !== '' && { cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...this.#headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      if (value === '') this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    return { status: response.status, said: Object(JSON.parse(await response.text())) }
  }

  async enter(token: string): Promise<void> {
    expect((await this.call('sessions', { token })).status).toBe(201)
  }

  /** The address of the account that is signed in; undefined for none. */
  email = async () => (await this.call('account/me')).said.account?.email as string | undefined

  begin = () => this.call('sign-in/passkey', {})
  finish = (credential: object) => this.call('sign-in/passkey/finish', { credential })

  async signIn(device: TestAuthenticator, deviations: Deviations = {}) {
    const { status, said } = await this.begin()
    expect(status, said.message).toBe(200)
    return await this.finish(device.get(said.options, deviations))
  }

  start = (proof: object = { currentPassword: password }) =>
    this.call('account/passkeys/start', proof)
  store = (name: string, credential: object) => this.call('account/passkeys', { name, credential })

  async add(device: TestAuthenticator, deviations: Deviations = {}, name = 'Laptop') {
    const { status, said } = await this.start()
    expect(status, said.message).toBe(200)
    return await this.store(name, device.create(said.options, deviations))
  }
}
