import type { TracingOptions } from '../platform/telemetry/otlp-tracing.js'
import {
  type Environment,
  integer,
  type Kind,
  oneOf,
  optional,
  readSettings,
  setting,
  text,
  url,
} from './setting-kinds.js'

const collectorAddress = url('an address such as http://collector.example.com:4318', (given) =>
  /^https?:$/.test(given.protocol) && !given.username && !given.password && !given.hash
    ? given.href
    : undefined,
)

/** `name=value,name=value`; values are percent-encoded. */
const pairs: Kind<Readonly<Record<string, string>>> = {
  accepts: 'pairs such as name=value,other=value, with other characters percent-encoded',
  parse(given) {
    const read: Record<string, string> = {}
    for (const pair of given.split(',')) {
      const [, name, value = ''] =
        /^\s*([\w.!#$%&'*+^`|~/-]{1,256})\s*=\s*(.{0,4096}?)\s*$/.exec(pair) ?? []
      if (name === undefined || !/^[\x20-\x7e]*$/.test(value)) return undefined
      try {
        read[decodeURIComponent(name)] = decodeURIComponent(value)
      } catch {
        return undefined
      }
    }
    return Object.freeze(read)
  },
}

const ratio: Kind<number> = {
  accepts: 'a number from 0 to 1',
  parse: (given) => (/^(0(\.\d+)?|1(\.0+)?|\.\d+)$/.test(given) ? Number(given) : undefined),
}

const timeout = integer(1, 600_000)

/** Traces by OpenTelemetry: the names and meanings are those of its specification. */
export const telemetrySettings = {
  disabled: setting('OTEL_SDK_DISABLED', oneOf('true', 'false'), {
    default: 'false',
    meaning: 'Turns traces off, whatever the other OTEL_ variables say.',
  }),
  exporter: optional('OTEL_TRACES_EXPORTER', oneOf('otlp', 'none'), {
    default: 'otlp if there is an endpoint, else none',
    meaning:
      'Whether traces are sent; otlp without an endpoint sends them to http://localhost:4318.',
  }),
  endpoint: optional('OTEL_EXPORTER_OTLP_ENDPOINT', collectorAddress, {
    default: 'none: no traces',
    meaning: 'OpenTelemetry collector that gets traces; /v1/traces is appended.',
  }),
  tracesEndpoint: optional('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', collectorAddress, {
    default: 'OTEL_EXPORTER_OTLP_ENDPOINT with /v1/traces',
    meaning: 'The same for traces alone, used as it is.',
  }),
  protocol: setting('OTEL_EXPORTER_OTLP_PROTOCOL', oneOf('http/protobuf'), {
    default: 'http/protobuf',
    meaning: 'Protocol of the collector.',
  }),
  tracesProtocol: optional('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', oneOf('http/protobuf'), {
    default: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    meaning: 'The same for traces alone.',
  }),
  headers: optional('OTEL_EXPORTER_OTLP_HEADERS', pairs, {
    default: 'none',
    meaning: 'Headers of the requests to the collector, such as a credential.',
    secret: true,
  }),
  tracesHeaders: optional('OTEL_EXPORTER_OTLP_TRACES_HEADERS', pairs, {
    default: 'OTEL_EXPORTER_OTLP_HEADERS',
    meaning: 'The same for traces alone.',
    secret: true,
  }),
  timeout: setting('OTEL_EXPORTER_OTLP_TIMEOUT', timeout, {
    default: '10000',
    meaning: 'Milliseconds that one batch of traces may take.',
  }),
  tracesTimeout: optional('OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', timeout, {
    default: 'OTEL_EXPORTER_OTLP_TIMEOUT',
    meaning: 'The same for traces alone.',
  }),
  compression: setting('OTEL_EXPORTER_OTLP_COMPRESSION', oneOf('gzip', 'none'), {
    default: 'none',
    meaning: 'Compression of the requests to the collector.',
  }),
  serviceName: optional('OTEL_SERVICE_NAME', text('a name', /^.{1,256}$/), {
    default: 'service.name of OTEL_RESOURCE_ATTRIBUTES, else botstead',
    meaning: 'Name of this server in traces.',
  }),
  resourceAttributes: optional('OTEL_RESOURCE_ATTRIBUTES', pairs, {
    default: 'none',
    meaning:
      'Further attributes of this process in traces, such as deployment.environment.name=test.',
  }),
  sampler: setting(
    'OTEL_TRACES_SAMPLER',
    oneOf(
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ),
    {
      default: 'parentbased_always_on',
      meaning:
        'Sampler of traces; parentbased keeps the decision of a caller that sends a traceparent.',
    },
  ),
  samplerArgument: setting('OTEL_TRACES_SAMPLER_ARG', ratio, {
    default: '1',
    meaning: 'The share of traces that traceidratio records.',
  }),
}

/**
 * Reads the settings of traces; undefined where they are off, and then nothing about them is a problem: machines have
 * such variables for other programs.
 */
export function readTracing(
  given: Environment,
  problems: string[],
  version: string,
): TracingOptions | undefined {
  const found: string[] = []
  const values = readSettings(telemetrySettings, given, found)
  const isNamed = [telemetrySettings.endpoint, telemetrySettings.tracesEndpoint].some(
    ({ name }) => (given[name] ?? '').trim() !== '',
  )
  const asked = given[telemetrySettings.exporter.name]?.trim() || (isNamed ? 'otlp' : 'none')
  if (values.disabled === 'true' || asked === 'none') return undefined
  problems.push(...found)
  const {
    endpoint = 'http://localhost:4318',
    tracesEndpoint = `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    sampler,
  } = values
  const attributes = values.resourceAttributes ?? {}
  return Object.freeze({
    url: tracesEndpoint,
    headers: { ...values.headers, ...values.tracesHeaders },
    timeoutMs: values.tracesTimeout ?? values.timeout,
    isCompressed: values.compression === 'gzip',
    resource: {
      'service.version': version,
      ...attributes,
      'service.name': values.serviceName ?? attributes['service.name'] ?? 'botstead',
    },
    sampler: {
      base: sampler.replace('parentbased_', '') as TracingOptions['sampler']['base'],
      isParentBased: sampler.startsWith('parentbased_'),
      ratio: values.samplerArgument,
    },
  })
}
