"""Serves OpenStack Swift with its S3 interface from one process, with one replica in a folder.

The servers, their middleware and the rings are Swift's own; this file only connects them, as the
command swift-init would for a machine of its own. Prints the port once requests are answered.

    python3 swift-server.py <folder> <access key as account:user> <secret> <most parts of an object>
"""

import os
import sys

import eventlet
from eventlet import wsgi

folder, access_key, secret, most_parts = sys.argv[1:]
account, user = access_key.split(':')

from swift.common import utils  # noqa: E402

# Where Swift looks for its settings is fixed to a folder of the system otherwise.
utils.SWIFT_CONF_FILE = os.path.join(folder, 'swift.conf')
with open(utils.SWIFT_CONF_FILE, 'w') as settings:
    settings.write('[swift-hash]\nswift_hash_path_suffix = test\n')
utils.validate_hash_conf()

from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.utils import eventlet_monkey_patch  # noqa: E402
from swift.common.wsgi import SwiftHttpProtocol, loadapp  # noqa: E402

eventlet_monkey_patch()


class Cache:
    """What Swift keeps in memcached: who a token belongs to, and what a container is."""

    def __init__(self, app):
        self.app = app
        self.values = {}

    def __call__(self, env, start_response):
        env['swift.cache'] = self
        return self.app(env, start_response)

    def get(self, key, **_):
        return self.values.get(key)

    def set(self, key, value, **_):
        self.values[key] = value

    def delete(self, key, **_):
        self.values.pop(key, None)

    def incr(self, key, delta=1, **_):
        self.values[key] = self.values.get(key, 0) + int(delta)
        return self.values[key]


def cache_filter(_settings, **_):
    return Cache


COMMON = f"""
[DEFAULT]
swift_dir = {folder}
devices = {folder}
mount_check = false
fallocate_reserve = 0
disable_fallocate = true
log_level = ERROR
"""

STORAGE = """
[app:main]
use = egg:swift#{kind}
# A busy machine must not put off entries of lists for a daemon that does not run here.
container_update_timeout = 60
node_timeout = 60
conn_timeout = 10
"""

PROXY = f"""
[pipeline:main]
pipeline = catch_errors cache listing_formats bulk s3api tempauth slo dlo proxy-server

[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
node_timeout = 60
recoverable_node_timeout = 60
conn_timeout = 10

[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
paste.filter_factory = swift_test:cache_filter
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
max_upload_part_num = {most_parts}
[filter:tempauth]
use = egg:swift#tempauth
user_{account}_{user} = {secret} .admin
[filter:slo]
use = egg:swift#slo
max_manifest_segments = {most_parts}
[filter:dlo]
use = egg:swift#dlo
"""


def listen():
    return eventlet.listen(('127.0.0.1', 0), backlog=512)


def serve(kind, sock, settings):
    path = os.path.join(folder, f'{kind}.conf')
    with open(path, 'w') as written:
        written.write(COMMON + settings)
    app = loadapp(path, global_conf={'log_name': kind})
    eventlet.spawn(
        wsgi.server,
        sock,
        app,
        utils.NullLogger(),
        protocol=SwiftHttpProtocol,
        capitalize_response_headers=False,
        max_size=512,
    )


def save_ring(name, port):
    builder = RingBuilder(part_power=2, replicas=1, min_part_hours=0)
    builder.add_dev({
        'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': port, 'device': 'disk', 'weight': 1,
    })
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, f'{name}.ring.gz'))


def end_with_parent():
    """Whoever started this holds its standard input open; when it goes, so does this."""
    sys.stdin.read()
    os._exit(0)


sys.modules['swift_test'] = sys.modules['__main__']
os.makedirs(os.path.join(folder, 'disk'))
kinds = ['account', 'container', 'object']
sockets = {kind: listen() for kind in kinds}
for kind in kinds:
    save_ring(kind, sockets[kind].getsockname()[1])
for kind in kinds:
    serve(kind, sockets[kind], STORAGE.format(kind=kind))
proxy = listen()
serve('proxy', proxy, PROXY)
eventlet.patcher.original('threading').Thread(target=end_with_parent, daemon=True).start()
print(proxy.getsockname()[1], flush=True)
while True:
    eventlet.sleep(3600)
