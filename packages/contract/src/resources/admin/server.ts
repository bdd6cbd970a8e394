import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { OneOf, Timestamp } from '../../shared.js'

const SettingInForce = Type.Object(
  {
    name: Type.String({ description: 'Name of the environment variable.' }),
    value: Type.String({
      description:
        'The text in force, or what happens without one. `(set)` for a secret that is set.',
    }),
    default: Type.String({ description: 'Value in force if it is not set.' }),
    source: OneOf(
      ['environment', 'file', 'default'],
      'Source of the value: the environment of the process, the file `.env`, or the default.',
    ),
    isSecret: Type.Boolean({ description: 'Whether the value is not shown.' }),
    needsRestart: Type.Boolean({
      description:
        'Whether a change takes effect at the next start only. True for all settings now.',
    }),
    accepts: Type.String({ description: 'The values that it accepts.' }),
    meaning: Type.String({ description: 'Meaning of the setting.' }),
  },
  { title: 'SettingInForce', description: 'A setting of the server as it is in force.' },
)

/** The server itself, for its operator. */
export const server = {
  get: operation({
    id: 'getServer',
    method: 'GET',
    path: '/v1/admin/server',
    tag: 'Service',
    summary: 'Get the state and the settings of the server',
    description:
      'Only for the operator of the server: the account of the first start. With several processes, it describes the one that responds.',
    auth: 'account',
    permission: 'server:read',
    response: json(
      Type.Object(
        {
          version: Type.String({ description: 'Version of Botstead.' }),
          node: Type.String({ description: 'Version of Node.' }),
          address: Type.String({ description: 'Address at which callers reach the server.' }),
          startedAt: Timestamp('Time at which the process started.'),
          uptimeSeconds: Type.Integer({
            minimum: 0,
            description: 'Seconds since the process started.',
          }),
          memoryBytes: Type.Integer({
            minimum: 0,
            description: 'Memory of the process, without those that read documents.',
          }),
          database: Type.Object(
            {
              engine: OneOf(['sqlite', 'postgres'], 'Engine of the database.'),
              version: Type.String({ description: 'Version of the engine.' }),
              usedBytes: Type.Integer({ minimum: 0, description: 'Size of the database.' }),
            },
            { title: 'ServerDatabase', description: 'The database of the server.' },
          ),
          contents: OneOf(
            ['disk', 's3'],
            'Location of file contents: the disk or an object store.',
          ),
          disks: Type.Array(
            Type.Object(
              {
                of: OneOf(['database', 'contents'], 'Data on the disk.'),
                freeBytes: Type.Integer({ minimum: 0, description: 'Free space in bytes.' }),
                usedBytes: Type.Integer({
                  minimum: 0,
                  description: 'Used space in bytes, by everything on the disk.',
                }),
                totalBytes: Type.Integer({ minimum: 0, description: 'Size in bytes.' }),
              },
              {
                title: 'ServerDisk',
                description: 'A disk of this machine that the server writes to.',
              },
            ),
            { description: 'Disks of this machine that the server writes to.' },
          ),
          parts: Type.Array(
            Type.Object(
              {
                name: Type.String({ description: 'Name of the part, as in `/readyz`.' }),
                status: OneOf(
                  ['ok', 'degraded', 'failed'],
                  '`degraded`: works with reduced function; `failed`: does not work.',
                ),
                detail: Type.Optional(Type.String({ description: 'Problem.' })),
              },
              { title: 'ServerPart', description: 'A part of the server that requests depend on.' },
            ),
            { description: 'The parts that `/readyz` checks.' },
          ),
          settings: Type.Array(SettingInForce, { description: 'All settings of the server.' }),
        },
        { title: 'ServerState', description: 'The state and the settings of the server.' },
      ),
    ),
    errors: ['Forbidden'],
  }),
}
