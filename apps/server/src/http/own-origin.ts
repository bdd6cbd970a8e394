import type { FastifyRequest } from 'fastify'

/**
 * Whether an origin is that of this server: of its base address, or of the address of the request.
 * @param baseUrl as callers reach the server
 */
export function isOwnOrigin(origin: string, request: FastifyRequest, baseUrl: string): boolean {
  return origin === new URL(baseUrl).origin || origin === `${request.protocol}://${request.host}`
}
