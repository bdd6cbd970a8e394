import { absent, type Refusal } from '../request.js'
import type { FieldRule, FieldRules } from './fields.js'

const unnamedBot: Refusal = {
  status: 401,
  type: 'Unauthorized',
  message: /The header x-bot-id must be the id of a bot that the token may use\.$/,
}

const unnamedWorkspace: Refusal = {
  status: 401,
  type: 'Unauthorized',
  message: /The header x-workspace-id must be the id of a workspace that the token may use\.$/,
}

/** The scope of a call inside a bot. */
export const botHeaders: FieldRules = {
  'headers.x-bot-id': [...namesNothing(unnamedBot), tooLong('x-bot-id')],
  'headers.x-integration-id': [tooLong('x-integration-id')],
  'headers.x-integration-alias': [tooLong('x-integration-alias')],
  'headers.x-integration-name': [tooLong('x-integration-name')],
  'headers.x-user-id': [tooLong('x-user-id')],
  'headers.x-user-role': [tooLong('x-user-role')],
}

/** The scope of a call to the admin interface. */
export const workspaceHeader: FieldRules = {
  'headers.x-workspace-id': [...namesNothing(unnamedWorkspace), tooLong('x-workspace-id')],
}

const wrongKey: Refusal = {
  status: 400,
  type: 'InvalidPayload',
  message: 'The header Idempotency-Key must have 1 to 255 characters.',
}

export const idempotencyKey: FieldRules = {
  'headers.idempotency-key': [
    { kind: 'empty', values: [''], refusal: wrongKey },
    { kind: 'long', values: ['k'.repeat(256)], refusal: wrongKey },
  ],
}

/** The address of a chat; its key is tested with the other credentials. */
export const chatAddress: FieldRules = {
  'params.webhookId': [
    {
      kind: 'long',
      values: ['w'.repeat(129)],
      refusal: {
        status: 404,
        type: 'ResourceNotFound',
        message: /^There is no chat address w+\.$/,
      },
    },
  ],
}

function namesNothing(refusal: Refusal): FieldRule[] {
  return [
    { kind: 'missing', values: [absent], refusal },
    { kind: 'empty', values: ['', ' '], refusal },
  ]
}

function tooLong(name: string): FieldRule {
  return {
    kind: 'long',
    values: ['x'.repeat(201)],
    refusal: {
      status: 400,
      type: 'InvalidPayload',
      message: `The header ${name} must have at most 200 characters.`,
    },
  }
}
