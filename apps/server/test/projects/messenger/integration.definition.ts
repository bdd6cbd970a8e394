import { IntegrationDefinition, z } from '@botpress/sdk'
import { integrationName } from './package.json'

export default new IntegrationDefinition({
  name: integrationName,
  version: '0.1.0',
  title: 'Messenger',
  identifier: { extractScript: 'extract.vrl', fallbackHandlerScript: 'fallbackHandler.vrl' },
  configuration: {
    schema: z.object({ serviceUrl: z.string() }),
    identifier: { linkTemplateScript: 'linkTemplate.vrl' },
  },
  actions: {
    greet: {
      input: { schema: z.object({ name: z.string() }) },
      output: { schema: z.object({ greeting: z.string() }) },
    },
  },
  channels: {
    direct: {
      messages: { text: { schema: z.object({ text: z.string() }) } },
      conversation: { tags: { id: { title: 'Id of the conversation in the service' } } },
    },
  },
  user: { tags: { id: { title: 'Id of the user in the service' } } },
  secrets: { API_KEY: {}, NOTE: { optional: true } },
})
