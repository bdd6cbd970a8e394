import { expect, it } from 'vitest'
import { callerAddress, isLoopback } from './caller-address.js'

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:443', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['[::ffff:192.0.2.1]:443', '192.0.2.1'],
  ['::1', '::1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0DB8:0000:0000:ffff::', '2001:db8:0:0::/64'],
  ['[2001:db8::1]:443', '2001:db8:0:0::/64'],
  ['[2001:db8::1]', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
  ['', 'unknown'],
  ['unknown', 'unknown'],
  ['127.0.0.1.evil', 'unknown'],
  ['[nothing]', 'unknown'],
  ['999.1.1.1', 'unknown'],
])('counts %j as %j', (ip, counted) => {
  expect(callerAddress({ ip })).toBe(counted)
})

it.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['127.0.0.1.example.com', false],
  ['192.0.2.127', false],
  ['::', false],
  ['', false],
])('recognises whether %j is this machine', (address, is) => {
  expect(isLoopback(address)).toBe(is)
})
