import { allOperations, createOpenApi } from '@botstead/contract'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'

/**
 * The rendered reference at `/docs`, from the same document as `/openapi.json`. Everything it needs
 * comes from this server, so that it works without the internet. It is an application of its own
 * that is made at the first visit: a start and the memory at rest should not pay for pages that few
 * look at. The bare address leads there, because people open it first.
 */
export function mountReference(app: FastifyInstance, version: string): void {
  const document = once(async () => createOpenApi(allOperations, { version }))
  const reference = once(async () => createReference(await document()))

  app.get('/openapi.json', async () => await document())
  const pass = async (request: FastifyRequest, reply: FastifyReply) => {
    const { routing } = await reference()
    reply.hijack()
    routing(request.raw, reply.raw)
  }
  app.get('/', (_request, reply) => reply.redirect('/docs'))
  app.get('/docs', pass)
  app.get('/docs/*', pass)
}

async function createReference(document: object): Promise<FastifyInstance> {
  const swagger = await import('@fastify/swagger')
  const swaggerUi = await import('@fastify/swagger-ui')
  const reference = Fastify({ logger: false })
  await reference.register(swagger.default, {
    mode: 'static',
    specification: { document: document as never },
  })
  await reference.register(swaggerUi.default, {
    routePrefix: '/docs',
    staticCSP: true,
    // Without it the page is blank wherever the server is reached by plain HTTP and not on localhost.
    transformStaticCSP: (policy) => policy.replace('upgrade-insecure-requests;', ''),
    theme: {
      title: 'Botstead API reference',
      css: [{ filename: 'botstead.css', content: '.swagger-ui .topbar { display: none }' }],
    },
    uiConfig: { docExpansion: 'list', defaultModelsExpandDepth: 0, displayRequestDuration: true },
  })
  await reference.ready()
  return reference
}

/** Makes something at its first use; after a failure the next use tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }
}
