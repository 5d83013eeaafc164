/** A host's part in a cluster, where `cluster.database_url` is set. */
import type { Logger } from 'pino';
import { ClusterMember } from '../cluster/member.ts';
import { errorMessage } from '../domain/error-message.ts';
import { OperatorError } from '../domain/errors.ts';
import type { Peers } from '../http/pass-on.ts';
import { variableName } from '../settings/environment.ts';
import type { Settings } from '../settings/read-settings.ts';
import { storeFormat } from '../store/environment.ts';

/** Errors: OperatorError `store_format` for tables of another version, `cluster` where a setting is lacking or the database cannot be reached. */
export async function joinCluster({ cluster, secrets }: Settings, log: Logger): Promise<ClusterMember> {
  const { address, lease_s } = cluster;
  const { database_url: url, secret } = secrets.cluster;
  if (url === null || address === null || secret === null) {
    const names = ['database_url', 'address', 'secret'].map((key) => variableName(['cluster', key]));
    throw new OperatorError('cluster', `a host of a cluster needs all of ${names.join(', ')}`);
  }
  try {
    return await ClusterMember.open({
      ...{ url, address, leaseS: lease_s, format: storeFormat, log },
      monotonic: () => performance.now(),
    });
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError('cluster', `the database of the cluster cannot be used: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

export function peersOf({ secrets }: Settings, member: ClusterMember, placeOf: Peers['placeOf']): Peers {
  const { secret } = secrets.cluster;
  if (secret === null) throw new TypeError('no cluster is set');
  return { secret, libraryOf: (digest) => member.credentials.libraryOf(digest), placeOf };
}
