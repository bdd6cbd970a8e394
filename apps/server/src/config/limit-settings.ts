import { bytes, duration, either, integer, setting } from './settings.js'

/** Every limit that an operator may move; the rest belongs to the interface and is fixed there. */
export const limitSettings = {
  bodyBytes: setting('BOTSTEAD_MAX_BODY_BYTES', bytes('1KiB', '100MiB'), {
    default: '1MiB',
    meaning: 'Body of a request to the runtime and chat interfaces.',
  }),
  adminBodyBytes: setting('BOTSTEAD_MAX_ADMIN_BODY_BYTES', bytes('1KiB', '100MiB'), {
    default: '50MiB',
    meaning: 'Body of a request to the admin interface, which carries the code of bots.',
  }),
  messageBytes: setting('BOTSTEAD_MAX_MESSAGE_BYTES', bytes('1KiB', '100MiB'), {
    default: '128KiB',
    meaning: 'Payload of one message.',
  }),
  deliveries: setting('BOTSTEAD_DELIVERIES', integer(1, 10_000), {
    default: '128',
    meaning: 'Deliveries to bots and integrations that a process has on the way at a time.',
  }),
  deliveriesPerReceiver: setting('BOTSTEAD_DELIVERIES_PER_RECEIVER', integer(1, 10_000), {
    default: '64',
    meaning: 'Of those, the ones to one bot or one installed integration.',
  }),
  deliveryAttempts: setting('BOTSTEAD_DELIVERY_ATTEMPTS', integer(1, 1000), {
    default: '20',
    meaning: 'Attempts at a delivery before it is given up; with pauses of up to 10 minutes.',
  }),
  fileBytes: setting('BOTSTEAD_MAX_FILE_BYTES', bytes('1B', '5TiB'), {
    default: '5GiB',
    meaning: 'Content of one file.',
  }),
  indexedFileBytes: setting('BOTSTEAD_MAX_INDEXED_FILE_BYTES', bytes('1B', '95MB'), {
    default: '95MB',
    meaning: 'Content of one file that is indexed for search.',
  }),
  passagesPerFile: setting('BOTSTEAD_MAX_PASSAGES_PER_FILE', integer(1, 100_000), {
    default: '5000',
    meaning: 'Passages that one file may be split into.',
  }),
  indexingWorkers: setting('BOTSTEAD_INDEXING_WORKERS', either(['auto'], integer(1, 64)), {
    default: 'auto',
    meaning:
      'Files that one process reads at a time; auto means one per processor but one. Up to three that take long are read beside them.',
  }),
  indexingTimeoutMs: setting('BOTSTEAD_INDEXING_TIMEOUT_MS', duration('1s', '1h'), {
    default: '2m',
    meaning: 'How long one file may take to be read; then it fails.',
  }),
  indexingMemoryBytes: setting('BOTSTEAD_INDEXING_MEMORY_BYTES', bytes('128MiB', '32GiB'), {
    default: '512MiB',
    meaning: 'Working memory (JavaScript heap) for reading one file.',
  }),
  indexingOutputBytes: setting('BOTSTEAD_INDEXING_OUTPUT_BYTES', bytes('1MiB', '500MiB'), {
    default: '64MiB',
    meaning: 'All passages of one file with their index words.',
  }),
  indexingUnpackedBytes: setting('BOTSTEAD_INDEXING_UNPACKED_BYTES', bytes('1MiB', '4GiB'), {
    default: '256MiB',
    meaning: 'Unpacked parts of one Office document or e-book.',
  }),
  indexingPages: setting('BOTSTEAD_INDEXING_PAGES', integer(1, 100_000), {
    default: '5000',
    meaning: 'Pages, slides, sheets or chapters of one document that is indexed.',
  }),
  listeners: setting('BOTSTEAD_MAX_LISTENERS', integer(1, 1_000_000), {
    default: '20000',
    meaning: 'Open streams of one process, over all conversations.',
  }),
  listenersPerUser: setting('BOTSTEAD_MAX_LISTENERS_PER_USER', integer(1, 1_000_000), {
    default: '50',
    meaning: 'Open streams of one chat user in one process.',
  }),
  listenerBufferBytes: setting('BOTSTEAD_MAX_LISTENER_BUFFER_BYTES', bytes('16KiB', '100MiB'), {
    default: '512KiB',
    meaning: 'What may wait for one listener who does not read, before it is let go and resumes.',
  }),
  storageQuotaBytes: setting('BOTSTEAD_STORAGE_QUOTA_BYTES', bytes('0', '1000TB'), {
    default: '10GB',
    meaning: 'Content of all files of a workspace.',
  }),
  vectorQuotaBytes: setting('BOTSTEAD_VECTOR_QUOTA_BYTES', bytes('0', '1000TB'), {
    default: '2GB',
    meaning: 'Content of all indexed files of a workspace.',
  }),
}
