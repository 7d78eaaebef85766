import {
  METRICS_PORT,
  PORT,
  REDIS_COMMAND,
  REDIS_IMAGE,
  REDIS_PORT,
  rehearsalEnvironment,
  SIMULATOR_COMMAND,
  SIMULATOR_PORT,
  TERMINATION_SECONDS,
} from './variants.ts';

const PROMETHEUS_IMAGE = 'docker.io/prom/prometheus:v3.5.0';

/** No rights, and nothing to write but `/tmp`. */
const CONFINED = {
  read_only: true,
  tmpfs: ['/tmp'],
  cap_drop: ['ALL'],
  security_opt: ['no-new-privileges:true'],
};

/** A rehearsal on one machine: the service, the simulator, a Redis and a Prometheus. Pure. */
export function composition(image: string) {
  return {
    name: 'sim-swap-rehearsal',
    services: {
      'sim-swap': {
        image,
        build: '..',
        environment: rehearsalEnvironment(
          `http://simulator:${SIMULATOR_PORT}`,
          `redis://redis:${REDIS_PORT}`,
        ),
        // For this machine alone.
        ports: [`127.0.0.1:${PORT}:${PORT}`],
        depends_on: {
          simulator: { condition: 'service_started' },
          redis: { condition: 'service_healthy' },
        },
        stop_grace_period: `${TERMINATION_SECONDS}s`,
        ...CONFINED,
      },
      simulator: { image, build: '..', entrypoint: SIMULATOR_COMMAND, ...CONFINED },
      redis: {
        image: REDIS_IMAGE,
        command: REDIS_COMMAND,
        healthcheck: { test: ['CMD', 'redis-cli', 'ping'], interval: '2s', retries: 15 },
      },
      prometheus: {
        image: PROMETHEUS_IMAGE,
        volumes: [
          './prometheus.yml:/etc/prometheus/prometheus.yml:ro',
          '../monitoring/rules.yml:/etc/prometheus/rules.yml:ro',
        ],
        ports: ['127.0.0.1:9090:9090'],
        depends_on: ['sim-swap'],
      },
    },
  };
}

/** What Prometheus reads there. Pure. */
export function prometheusSettings() {
  return {
    global: { scrape_interval: '5s', evaluation_interval: '5s' },
    rule_files: ['rules.yml'],
    scrape_configs: [
      { job_name: 'sim-swap', static_configs: [{ targets: [`sim-swap:${METRICS_PORT}`] }] },
    ],
  };
}
