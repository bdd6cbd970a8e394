import type { FastifyInstance } from 'fastify'

/**
 * The rendered reference at `/docs`, from the same document as `/openapi.json`. Everything it needs
 * comes from this server, so that it works without the internet. Its parts are loaded at the first
 * visit: a start and the memory at rest should not pay for pages that few look at.
 */
export async function mountReference(app: FastifyInstance, document: object): Promise<void> {
  app.get('/openapi.json', async () => document)
  const swagger = await import('@fastify/swagger')
  const swaggerUi = await import('@fastify/swagger-ui')
  await app.register(async (scope) => {
    await scope.register(swagger.default, {
      mode: 'static',
      specification: { document: document as never },
    })
    await scope.register(swaggerUi.default, {
      routePrefix: '/docs',
      staticCSP: true,
      theme: { title: 'Botstead API reference' },
      uiConfig: { docExpansion: 'list', defaultModelsExpandDepth: 0, displayRequestDuration: true },
    })
  })
}
