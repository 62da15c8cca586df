# bandferry. `make help` lists what there is to make.

SHELL := /bin/bash
PREFIX ?= /usr/local
# The bus reads policies here and in /etc/dbus-1/system.d, wherever the programs are.
POLICYDIR ?= /usr/share/dbus-1/system.d
SYSCONFDIR ?= /etc
BINDIR = $(PREFIX)/bin
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
DOCDIR ?= $(PREFIX)/share/doc/bandferry
# The server looks for the page here, beside its own directory.
DASHBOARDDIR = $(PREFIX)/share/bandferry/dashboard
# As they lie here, so that they find each other.
DOCUMENTS = README.md $(wildcard docs/*.md docs/*.yaml docs/images/* docs/decisions/*.md)
EXAMPLES = bandferry.conf.example ingest.env.example short-intervals.conf
# Where programs and documents are, in units and examples; `docs/` stands in comments.
PLACES = s|/usr/bin/|$(BINDIR)/|; s|/usr/share/doc/bandferry|$(DOCDIR)|; /^\#/s| docs/| $(DOCDIR)/docs/|g

PROGRAMS = bandferryd bandferry bandferry-ingest bandsim
UNITS = bandferryd.service bandferry-ingest.service
SWIFT = $$(scripts/find-swift.sh)
# The Swift libraries go into the programs: they need nothing at run time but Debian's own libraries.
RELEASE = -c release --static-swift-stdlib $(SWIFTFLAGS)
RELEASEDIR = .build/release

.PHONY: help build demo check test many-bands vm-test powercut fuzz threads bench bench-ingest bench-trends time-simulation convergence chaos soak store-faults debian13 install uninstall clean

help:
	@echo 'make demo      history of simulated bands reaches a server, with the link cut and the daemon killed half way;'
	@echo '               then a dashboard with a month of it, until Ctrl-C (DEMOFLAGS=--no-wait ends at once)'
	@echo 'make test      set up, build, and run every test'
	@echo 'make check     format, layers, warnings as errors: what needs no test'
	@echo 'make build     the four programs, in $(RELEASEDIR)'
	@echo 'make install   programs, dashboard, units, bus policy, documents and an example configuration (DESTDIR, PREFIX)'
	@echo 'make uninstall  takes all of it away but the configuration and the samples'
	@echo 'make bench     speed beside a Python gateway and beside the floor, as ratios'
	@echo 'make bench-ingest  uploads a second on PostgreSQL and SQLite, beside the floor (STORED=100000000 samples stored before)'
	@echo 'make bench-trends  time of a trend from ten million samples, beside an almost empty store'
	@echo 'make fuzz      parsers under libFuzzer and the address sanitizer (SECONDS_EACH=60)'
	@echo 'make threads   the unit tests under the thread sanitizer'
	@echo 'make vm-test   the real BlueZ in a virtual machine'
	@echo 'make powercut  the power of a virtual machine with the gateway under load is cut, again and again (RUNS=50, SEED=, WORKERS=1)'
	@echo 'make time-simulation  lives of a band with a bad clock and a gateway with another, and how far off the times are (SEEDS=1000)'
	@echo 'make convergence  two gateways, a server and a bad network, until all have the same samples (SEEDS=1000)'
	@echo 'make many-bands  20 bands on one adapter with 5 slots, a day of history each, links that break (RECORDS=86400)'
	@echo 'make chaos     two gateways, two servers, PostgreSQL and a bad network, with kills (SEEDS=20, MINUTES=20)'
	@echo 'make soak      a month of eight bands with faults, in minutes: nothing lost, and nothing that grows (DAYS=30, BANDS=8, SEED=1)'
	@echo 'make store-faults  a database whose every call into the file system fails in turn, and 400 damaged ones (STRIDE=1, SEEDS=400)'
	@echo 'make debian13  build and unit tests on Debian 13, as on Raspberry Pi OS'

build:
	@scripts/install-packages.sh build
	$(SWIFT) build $(RELEASE)

demo: build
	@scripts/install-packages.sh demo
	@scripts/demo.py --bin $(RELEASEDIR) $(DEMOFLAGS)

check:
	@scripts/install-packages.sh build
	@scripts/check.sh

test:
	@scripts/install-packages.sh test
	@scripts/test.sh

vm-test: build
	@BUILD=$(CURDIR)/$(RELEASEDIR) Tests/vm/test.sh

powercut: build
	@Tests/vm/prepare.sh
	@Tests/vm/powercut.py --bin $(RELEASEDIR) --runs $${RUNS:-50} --workers $${WORKERS:-1} $(if $(SEED),--seed $(SEED))

fuzz:
	@scripts/fuzz.sh

threads:
	@scripts/install-packages.sh test
	@scripts/tsan.sh

bench: build
	@scripts/install-packages.sh test
	@Tests/bench/run.py --bin $(RELEASEDIR)

bench-ingest: build
	@scripts/install-packages.sh test
	@Tests/bench/ingest.py --bin $(RELEASEDIR) $(if $(STORED),--stored $(STORED))

bench-trends: build
	@Tests/bench/trends.py --bin $(RELEASEDIR)

time-simulation:
	@scripts/install-packages.sh test
	BANDFERRY_TIME_SEEDS=$${SEEDS:-1000} $(SWIFT) test $(SWIFTFLAGS) --filter TimeSimulationTests

convergence:
	@scripts/install-packages.sh test
	BANDFERRY_CONVERGENCE_SEEDS=$${SEEDS:-1000} $(SWIFT) test $(SWIFTFLAGS) --filter ConvergenceTests

store-faults:
	@scripts/install-packages.sh test
	BANDFERRY_FAULT_STRIDE=$${STRIDE:-1} STORE_SEEDS=$${SEEDS:-400} $(SWIFT) test $(SWIFTFLAGS) --filter 'FaultTests|SalvageTests'

many-bands: build
	@scripts/install-packages.sh test
	BANDFERRY_BIN=$(CURDIR)/$(RELEASEDIR) BANDFERRY_MANY_RECORDS=$${RECORDS:-86400} Tests/radio/run.py test_many_bands

chaos: build
	@scripts/install-packages.sh test
	BANDFERRY_BIN=$(CURDIR)/$(RELEASEDIR) SEEDS=$${SEEDS:-20} MINUTES=$${MINUTES:-20} Tests/chaos/run.py

soak: build
	@scripts/install-packages.sh test
	BANDFERRY_BIN=$(CURDIR)/$(RELEASEDIR) DAYS=$${DAYS:-30} Tests/soak/run.py

debian13:
	@scripts/debian13.sh

install:
	@test -x $(RELEASEDIR)/bandferryd || { echo "run 'make build' first, as a user who has the Swift toolchain"; exit 1; }
	install -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(UNITDIR)' '$(DESTDIR)$(SYSUSERSDIR)' '$(DESTDIR)$(POLICYDIR)' \
	    '$(DESTDIR)$(SYSCONFDIR)/bandferry' '$(DESTDIR)$(DOCDIR)' '$(DESTDIR)$(DASHBOARDDIR)/views'
	install -s -m 0755 $(PROGRAMS:%=$(RELEASEDIR)/%) '$(DESTDIR)$(BINDIR)'
	for unit in $(UNITS); do sed '$(PLACES)' systemd/$$unit >'$(DESTDIR)$(UNITDIR)'/$$unit && \
	    chmod 0644 '$(DESTDIR)$(UNITDIR)'/$$unit || exit 1; done
	for file in $(DOCUMENTS); do install -D -m 0644 $$file '$(DESTDIR)$(DOCDIR)'/$$file || exit 1; done
	for file in $(EXAMPLES); do sed '$(PLACES)' systemd/$$file >'$(DESTDIR)$(DOCDIR)'/$$file && \
	    chmod 0644 '$(DESTDIR)$(DOCDIR)'/$$file || exit 1; done
	install -m 0644 systemd/bandferry.sysusers '$(DESTDIR)$(SYSUSERSDIR)/bandferry.conf'
	install -m 0644 systemd/bandferry-ingest.sysusers '$(DESTDIR)$(SYSUSERSDIR)/bandferry-ingest.conf'
	install -m 0644 dbus-policy/org.bandferry.conf '$(DESTDIR)$(POLICYDIR)/org.bandferry.conf'
	install -m 0644 dashboard/*.* '$(DESTDIR)$(DASHBOARDDIR)'
	install -m 0644 dashboard/views/*.js '$(DESTDIR)$(DASHBOARDDIR)/views'
	@test -e '$(DESTDIR)$(SYSCONFDIR)/bandferry/bandferry.conf' || \
	    install -m 0644 '$(DESTDIR)$(DOCDIR)/bandferry.conf.example' '$(DESTDIR)$(SYSCONFDIR)/bandferry/bandferry.conf'
	@scripts/after-install.sh '$(DESTDIR)' '$(SYSCONFDIR)/bandferry' '$(DOCDIR)'

uninstall:
	rm -f $(PROGRAMS:%='$(DESTDIR)$(BINDIR)/%') $(UNITS:%='$(DESTDIR)$(UNITDIR)/%') \
	    '$(DESTDIR)$(SYSUSERSDIR)/bandferry.conf' '$(DESTDIR)$(SYSUSERSDIR)/bandferry-ingest.conf' \
	    '$(DESTDIR)$(POLICYDIR)/org.bandferry.conf' $(DOCUMENTS:%='$(DESTDIR)$(DOCDIR)/%') $(EXAMPLES:%='$(DESTDIR)$(DOCDIR)/%')
	rm -rf '$(DESTDIR)$(DASHBOARDDIR)'
	@rmdir '$(DESTDIR)$(DOCDIR)/docs/'{images,decisions,} '$(DESTDIR)$(DOCDIR)' '$(DESTDIR)$(PREFIX)/share/bandferry' 2>/dev/null || true
	@echo 'Kept: $(SYSCONFDIR)/bandferry and the state directories, which hold the samples.'

clean:
	rm -rf .build .build-*
