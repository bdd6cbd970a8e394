import type { Auth, Operation } from '@botstead/contract'
import { adminExamples } from './examples/admin.js'
import { chatExamples } from './examples/chat.js'
import { contentExamples } from './examples/content.js'
import type { Example, Examples } from './examples/example.js'
import { filesExamples } from './examples/files.js'
import { integrationsExamples } from './examples/integrations.js'
import { runtimeExamples } from './examples/runtime.js'
import type { Tenant } from './tenant.js'

export type { Example } from './examples/example.js'

/** Every operation of the interface, by id. */
export const examples: Examples = {
  ...adminExamples,
  ...integrationsExamples,
  ...filesExamples,
  ...runtimeExamples,
  ...chatExamples,
  ...contentExamples,
}

/** The example of an operation; one that is missing is a mistake of the tests. */
export function exampleOf({ id }: Operation): Example {
  const example = examples[id]
  if (example === undefined)
    throw new Error(`The operation ${id} has no example: add one in apps/server/test/examples`)
  return example
}

/** The headers by which a tenant calls operations of one kind. */
export function credentialsOf(auth: Auth, tenant: Tenant): Record<string, string> {
  const authorization = `Bearer ${tenant.token}`
  switch (auth) {
    case 'account':
    case 'token':
      return { authorization }
    case 'workspace':
      return { authorization, 'x-workspace-id': tenant.workspaceId }
    case 'bot':
      return { authorization, 'x-bot-id': tenant.botId }
    case 'chat-user':
      return { 'x-user-key': tenant.userKey }
    case 'chat':
    case 'public':
    case 'signature':
      return {}
    default:
      return auth satisfies never
  }
}
