import { createHmac } from 'node:crypto'

/** Header by which a receiver can know that a request comes from this server. */
export const signatureHeader = 'x-botstead-signature'

/**
 * `t=<Unix seconds>,v1=<hex>`, where the hex is HMAC-SHA256 of `<t>.<body>`: one `v1` per secret that
 * is valid now, so that a receiver may know either of them while secrets are rotated.
 */
export function signatureOf(
  secrets: readonly string[],
  body: string,
  nowMilliseconds: number,
): string {
  const time = Math.floor(nowMilliseconds / 1000)
  const macs = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'),
  )
  return [`t=${time}`, ...macs.map((mac) => `v1=${mac}`)].join(',')
}
