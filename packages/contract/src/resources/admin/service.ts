import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { OneOf } from '../../shared.js'

/** Probes for those who run the server. */
export const service = {
  health: operation({
    id: 'getHealth',
    method: 'GET',
    path: '/healthz',
    tag: 'Service',
    summary: 'Tell whether the process is alive',
    description: 'Looks at nothing else: a process that answers needs no restart.',
    auth: 'public',
    probe: true,
    answer: {
      kind: 'json',
      schema: Type.Object({ status: OneOf(['ok'], 'The process is alive.') }, { title: 'Health' }),
    },
    status: 200,
    errors: [],
  }),
  readiness: operation({
    id: 'getReadiness',
    method: 'GET',
    path: '/readyz',
    tag: 'Service',
    summary: 'Tell whether the server can serve',
    description:
      'Answers `Internal` while a part that every request needs does not work, and when the server is about to stop.',
    auth: 'public',
    probe: true,
    answer: {
      kind: 'json',
      schema: Type.Object(
        {
          status: OneOf(['ready'], 'The server can serve.'),
          checks: Type.Array(
            Type.Object(
              {
                name: Type.String({ description: 'Name of the part, for example `database`.' }),
                status: OneOf(['ok', 'degraded'], '`degraded`: works with less than it could.'),
                detail: Type.Optional(Type.String({ description: 'What is missing, and why.' })),
              },
              { title: 'ReadinessCheck', description: 'One part of the server.' },
            ),
            { description: 'Parts that were looked at.' },
          ),
        },
        { title: 'Readiness' },
      ),
    },
    status: 200,
    errors: ['Internal'],
  }),
}
