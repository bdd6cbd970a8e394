import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { OneOf } from '../../shared.js'

/** Health probes for operators. */
export const service = {
  health: operation({
    id: 'getHealth',
    method: 'GET',
    path: '/healthz',
    tag: 'Service',
    summary: 'Check whether the process is alive',
    description: 'Checks nothing else: a process that responds needs no restart.',
    auth: 'public',
    probe: true,
    response: json(
      Type.Object(
        {
          status: OneOf(['ok'], 'The process is alive.'),
          instance: Type.Optional(
            Type.String({
              description:
                'Identifies the installation, the same in all of its processes: tells whether an address leads to the server that was meant. 16 hex digits, derived from its secret; missing while the server starts.',
            }),
          ),
        },
        { title: 'Health' },
      ),
    ),
  }),
  readiness: operation({
    id: 'getReadiness',
    method: 'GET',
    path: '/readyz',
    tag: 'Service',
    summary: 'Check whether the server is ready',
    description:
      'Returns 503 and `Internal` with the reason while a component that every request needs does not work, while the server starts, and when it is about to stop.',
    auth: 'public',
    probe: true,
    response: json(
      Type.Object(
        {
          status: OneOf(['ready'], 'The server is ready.'),
          checks: Type.Array(
            Type.Object(
              {
                name: Type.String({
                  description: 'Name of the component, for example `database`.',
                }),
                status: OneOf(['ok', 'degraded'], '`degraded`: works with reduced function.'),
                detail: Type.Optional(
                  Type.String({ description: 'Missing part, and the reason.' }),
                ),
              },
              { title: 'ReadinessCheck', description: 'One component of the server.' },
            ),
            { description: 'Components that were checked.' },
          ),
        },
        { title: 'Readiness' },
      ),
    ),
    errors: ['Internal'],
  }),
}
